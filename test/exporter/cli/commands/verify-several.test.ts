import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runVerify } from '../../../../src/exporter/cli/commands/verify.ts';
import { archivePackage } from '../../../support/archived-package.ts';
import { chainOf, packageOf } from '../../../support/chain.ts';
import { carryOut } from '../../../support/command.ts';
import { evidence } from '../../../support/evidence.ts';
import { newKey } from '../../../support/signed-archive.ts';

const folder = mkdtempSync(join(tmpdir(), 'several-'));
const VECTORS = resolve(import.meta.dirname, '../../../vectors/chain');

beforeAll(async () => {
  const evidence = Buffer.from(JSON.stringify(packageOf(chainOf(3))));
  await archivePackage(join(folder, 'archive'), { bundle: { evidence }, key: newKey() });
  for (const name of ['valid', 'edited', 'cut-off'])
    cpSync(join(VECTORS, `${name}.json`), join(folder, `${name}.json`));
  writeFileSync(join(folder, 'report.pdf'), '%PDF-1.7\n');
  writeFileSync(join(folder, 'record.json'), readFileSync(join(VECTORS, 'expected.json')));
  writeFileSync(join(folder, 'nothing'), '');
  mkdirSync(join(folder, 'conf'));
  writeFileSync(join(folder, 'conf/evidence.yaml'), 'archive: { url: ../archive }\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const verify = (targets: string[], flags: object = {}, options: object = {}) =>
  carryOut(runVerify, { targets, ...flags }, folder, options);

describe('several targets', () => {
  test.each<[targets: string[], code: number]>([
    [['valid.json', 'valid.json'], 0],
    [['valid.json', 'cut-off.json'], 3],
    [['cut-off.json', 'report.pdf', 'valid.json'], 2],
    [['absent.json', 'edited.json', 'valid.json'], 1],
    [['archive', 'valid.json'], 0],
  ])('%j end with %d, the worst of them', async (targets, code) => {
    const { code: ended, document } = await verify(targets);
    expect([ended, document.format, document.exit_code]).toEqual([code, 'evidence-verify-several/1', code]);
    expect(document.targets.map(({ target }: { target: string }) => target)).toEqual(targets);
    const codes: number[] = document.targets.map((one: { exit_code: number }) => one.exit_code);
    expect(codes.includes(code)).toBe(true);
  });

  test('have a line each, and more where something is amiss', async () => {
    const { stdout } = await verify(['valid.json', 'edited.json', 'report.pdf'], {}, { json: false });
    expect(stdout).toMatch(/^valid\.json: verified, 1 stream, \d+ entries$/m);
    expect(stdout).toMatch(/^edited\.json: refuted, /m);
    expect(stdout).toMatch(/^report\.pdf: not verified: .* is not an evidence package/m);
    expect(stdout.match(/✓ proved {3}✗ refuted/g)).toHaveLength(1);
    expect(stdout.match(/^Configuration/gm)).toHaveLength(1);
    const { stdout: more } = await verify(['valid.json', 'edited.json'], {}, { json: false, verbose: true });
    expect(more.match(/✓ proved {3}✗ refuted/g)).toHaveLength(2);
  });
});

describe('without a target', () => {
  test.each<[words: string, flags: object, environment: NodeJS.ProcessEnv]>([
    ['a flag', { config: 'conf/evidence.yaml' }, {}],
    ['the environment', {}, { EVIDENCE_CONFIG: 'conf/evidence.yaml' }],
  ])('the archive of the configuration is meant that %s names', async (_words, flags, environment) => {
    const { code, document } = await verify([], flags, { environment });
    expect([code, document.runs.length]).toEqual([0, 1]);
  });

  test('and a configuration, it says what to give', async () => {
    const { code, stderr } = await verify([]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/no target is given\nName an archive.*--config/)]);
  });

  test('but an empty one, it says that it is empty', async () => {
    const { code, stderr } = await evidence(['verify', ''], { cwd: folder });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^evidence: the target is empty\nGive a value\./)]);
  });
});

test.each(['report.pdf', 'record.json', 'nothing'])('%s is no evidence package', async (name) => {
  const { code, document, stdout, stderr } = await verify([name]);
  expect([code, document.error.message]).toEqual([
    2,
    expect.stringMatching(/^\S+ is not an evidence package: .*; nothing was verified$/),
  ]);
  expect(stdout + stderr).not.toContain('refuted');
});
