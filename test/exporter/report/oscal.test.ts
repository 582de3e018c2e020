import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { readControls } from '../../../src/exporter/cli/config/controls.ts';
import { renderOscal } from '../../../src/exporter/report/oscal/document.ts';
import { uuidOf } from '../../../src/exporter/report/oscal/tokens.ts';
import { readTexts } from '../../../src/exporter/report/texts.ts';
import type { RunRecord } from '../../../src/verifier/records/record.ts';
import { assessmentResultsSchema } from '../../support/oscal.ts';
import { joined } from '../../support/pieces.ts';
import { monthStream, partialRun, refutedRun, verifiedRun } from '../../support/run-records.ts';

const texts = readTexts();
const render = (record: RunRecord) => JSON.parse(joined(renderOscal(record, texts)).toString('utf8'));

function withControls(record: RunRecord, ...names: string[]): RunRecord {
  return { ...record, report: { ...record.report, controls: readControls(names) } };
}

const RUNS: [string, RunRecord][] = [
  ['verified', withControls(verifiedRun([monthStream(1)]), 'soc2', 'iso27001', 'pci-dss-4', 'hipaa')],
  ['refuted', refutedRun()],
  ['partial', partialRun()],
  ['of hostile names', verifiedRun([monthStream(1, ' \n\t\u0000 '), monthStream(2, '[x](javascript:y)\n# h')])],
  [
    'without an organisation',
    { ...refutedRun(), report: { organisation: null, prepared_by: null, oscal: true, controls: [] } },
  ],
];

test.each(RUNS)('the results of a run that is %s are as the standard says', (_what, record) => {
  expect(assessmentResultsSchema.safeParse(render(record)).error?.issues ?? []).toEqual([]);
});

test('every stream that was listed is observed, whatever became of it, and each that is missed', () => {
  const titles = (record: RunRecord) =>
    render(record)['assessment-results'].results[0].observations.map(({ title }: { title: string }) => title);
  expect(titles(partialRun())).toEqual(['prod/service-1', 'prod/half', 'prod/quiet', 'prod/dead', 'prod/debug']);
  expect(titles(refutedRun()).at(-1)).toBe('prod/gone');
});

test('no field that the standard requires can be left out unnoticed', () => {
  const document = render(withControls(refutedRun(), 'soc2'));
  const unnoticed: string[] = [];
  const optional = /\.(props|types|observations|relevant-evidence|parties|rlinks|hashes|media-type|ns)$/;
  const visit = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return;
    const holder = value as Record<string, unknown>;
    for (const name of Object.keys(holder)) {
      const member = holder[name];
      const here = `${path}.${name}`;
      visit(member, here);
      if (Array.isArray(value) || optional.test(here)) continue;
      delete holder[name];
      if (assessmentResultsSchema.safeParse(document).success) unnoticed.push(here);
      holder[name] = member;
    }
  };
  visit(document, '');
  expect(unnoticed).toEqual([]);
  expect(assessmentResultsSchema.safeParse(document).success).toBe(true);
});

test('what is referred to is there: streams, the plan, the tool; a bundle with its digest', () => {
  const { results, 'back-matter': back, 'import-ap': plan } = render(partialRun())['assessment-results'];
  const known = new Map(back.resources.map((resource: { uuid: string }) => [resource.uuid, resource]));
  expect(known.has(plan.href.slice(1))).toBe(true);
  const tools = results[0]['local-definitions'].components.map(({ uuid }: { uuid: string }) => uuid);
  for (const { subjects, origins } of results[0].observations) {
    expect(known.get(subjects[0]['subject-uuid'])).toMatchObject({ title: subjects[0].title });
    expect(tools).toContain(origins[0].actors[0]['actor-uuid']);
  }
  const hashes = back.resources.flatMap(({ rlinks = [] }) => rlinks).flatMap(({ hashes: found = [] }) => found);
  const digests = partialRun().streams.map(({ bundle }) => bundle.sha256);
  expect(hashes.map(({ value }: { value: string }) => value)).toEqual(digests);
});

describe('what is said', () => {
  test('a control is reviewed, and never said to be satisfied', () => {
    const text = JSON.stringify(render(withControls(verifiedRun([monthStream(1)]), 'pci-dss-4')));
    expect(text).toContain('"control-id":"c-10.2.1"');
    expect(text).not.toMatch(/"(not-)?satisfied"|"findings"|complian/);
  });

  test('text from outside is no markup', () => {
    const finding = { ...refutedRun().streams.at(1)?.findings[0], message: '[click](https://evil.example) *now*' };
    const stream = monthStream(1, 's', { status: 'refuted', findings: [finding as never], findings_count: 1 });
    const [observation] = render(verifiedRun([stream]))['assessment-results'].results[0].observations;
    expect(observation.description).toContain('\\[click\\](https://evil.example) \\*now\\*');
  });

  test('the same run has the same ids, another one others', () => {
    const ids = (record: RunRecord): string[] => [
      ...new Set(JSON.stringify(render(record)).match(/[0-9a-f]{8}-[0-9a-f-]{27}/g)),
    ];
    expect(ids(partialRun())).toEqual(ids(partialRun()));
    expect(ids(partialRun()).filter((id) => ids({ ...partialRun(), run_id: '2026-11' }).includes(id))).toHaveLength(
      // The organization, the tool and each of the five streams are the same.
      7,
    );
  });
});

test('ids are version 5 UUIDs, as Python makes them', () => {
  const name = JSON.stringify(['stream', 'https://audit.example.com', '支付']);
  const script = `import uuid,sys; print(uuid.uuid5(uuid.UUID('7f0a4c1e5d3b4b7f9a5e2c8d61f0b394'), sys.argv[1]))`;
  const expected = execFileSync('python3', ['-c', script, name], { encoding: 'utf8' }).trim();
  expect(uuidOf('stream', 'https://audit.example.com', '支付')).toBe(expected);
});
