import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadConfig } from '../../../../src/exporter/cli/config/config.ts';
import { readControls } from '../../../../src/exporter/cli/config/controls.ts';

const folder = mkdtempSync(join(tmpdir(), 'controls-'));
afterAll(() => rmSync(folder, { recursive: true }));

const NAMES = readdirSync(resolve(import.meta.dirname, '../../../../templates/controls')).map((file) =>
  file.replace(/\.yaml$/, ''),
);

test('the mappings that come with the program are those that can be named', () => {
  expect(NAMES.sort()).toEqual(['hipaa', 'iso27001', 'pci-dss-4', 'soc2']);
  expect(readControls(NAMES).map(({ controls }) => controls.length > 3)).toEqual([true, true, true, true]);
});

test('none says that anything is complied with, and each control says where the evidence ends', () => {
  for (const { controls } of readControls(NAMES)) {
    expect(JSON.stringify(controls)).not.toMatch(/complian|complies|satisf|conform/i);
    const ids = controls.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  }
});

const OWN = `format: evidence-controls/1
framework: Own
controls:
  - { id: X-1, title: t, claims: [order], streams: ['prod/*'], speaks_to: s, does_not_show: d }
`;

test('a file of the user, beside the configuration', async () => {
  writeFileSync(join(folder, 'own.yaml'), OWN);
  writeFileSync(
    join(folder, 'evidence.yaml'),
    'report: { organisation: Acme, controls: [soc2, ./own.yaml], oscal: true }\n',
  );
  const { report } = await loadConfig({ config: join(folder, 'evidence.yaml') }, {}, '/');
  expect(report).toEqual({
    organisation: 'Acme',
    preparedBy: null,
    controls: ['soc2', join(folder, 'own.yaml')],
    oscal: true,
  });
  expect(readControls(report.controls).map(({ framework }) => framework)).toEqual([
    expect.stringMatching(/^SOC 2/),
    'Own',
  ]);
});

test.each([
  ['a framework that is not there', 'soc3', /"soc3"/, /Did you mean soc2\?/],
  ['a file that is not there', join(folder, 'gone.yaml'), /gone\.yaml/, undefined],
])('%s', (_what, name, message, nextStep) => {
  const reading = () => readControls([name]);
  expect(reading).toThrow(message);
  if (nextStep !== undefined)
    expect(reading).toThrow(expect.objectContaining({ nextStep: expect.stringMatching(nextStep) }));
});

test('no framework of this program promises what no claim proves: that nothing was altered since it was recorded', () => {
  const controls = readControls(['soc2', 'iso27001', 'hipaa', 'pci-dss-4']).flatMap((framework) => framework.controls);
  const promises = controls.filter(({ speaks_to }) => /unaltered|\bwhole\b|since .* recorded/.test(speaks_to));
  expect(promises.map(({ id }) => id)).toEqual([]);
});

test('a claim that there is not is named with its place', () => {
  writeFileSync(join(folder, 'wrong.yaml'), OWN.replace('[order]', '[ordre]'));
  expect(() => readControls([join(folder, 'wrong.yaml')])).toThrow(/wrong\.yaml:4:/);
});
