import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { verifyBundle as verifyInNode } from '../../src/library/bundle.ts';
import { verifyBundle as verifyInBrowser } from '../../src/library/in-browser.ts';
import type { FileReport } from '../../src/verifier/verify/file-report.ts';
import { chainOf, packageOf, STREAM } from '../support/chain.ts';
import { drawnPdf, list } from '../support/drawn-pdf.ts';
import { type PackageBundle, writePackageBundle } from '../support/package-bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'library-agreement-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SENT = packageOf(chainOf(20), { package_id: 'p1' });
const EVIDENCE = Buffer.from(JSON.stringify(SENT));
const SUMMARY = Buffer.from(
  JSON.stringify({
    package_id: 'p1',
    stream_id: STREAM,
    period: { from: null, to: null },
    entry_count: 20,
    head_hash: SENT.head_hash,
    first_timestamp: SENT.entries[0]?.timestamp,
    last_timestamp: SENT.entries.at(-1)?.timestamp,
    counts: { actions: {}, actors: {}, resource_types: {} },
  }),
);
const OURS = drawnPdf([list('Entries: 20')]);
const OTHER = drawnPdf([list('Entries: 999')]);
const BROKEN = drawnPdf(['/Gx gs']);

const recorded =
  (state: 'proved' | 'refuted'): NonNullable<PackageBundle['restate']> =>
  (verdict) => ({
    ...verdict,
    status: state === 'proved' ? 'verified' : 'refuted',
    claims: { ...verdict.claims, agreement: { state, basis: 'as it was recorded' } },
  });

const said = ({ outcome, streams, findings }: FileReport) => ({
  outcome,
  agreement: streams[0]?.claims.agreement,
  findings: findings.map(({ code }) => code),
});

const DIFFERS = ['verdict/differs'];
type Row = [string, Partial<PackageBundle>, outcome: string, state: string | undefined, findings: string[]];

test.each<Row>([
  ['a summary', { summary: SUMMARY }, 'verified', 'proved', []],
  ['a summary, and a PDF that agrees', { summary: SUMMARY, pdf: OURS }, 'verified', 'proved', []],
  ['a summary, and a PDF that cannot be read', { summary: SUMMARY, pdf: BROKEN }, 'verified', 'proved', []],
  ['a PDF alone', { pdf: OURS }, 'verified', 'unproved', []],
  [
    'a PDF alone that was recorded as a proof',
    { pdf: OURS, restate: recorded('proved') },
    'refuted',
    'unproved',
    DIFFERS,
  ],
  [
    'a failed check of the service beside an agreement that was recorded as proved',
    { summary: SUMMARY, pdf: OURS, isChecked: 'failed', restate: recorded('proved') },
    'refuted',
    'unproved',
    DIFFERS,
  ],
])('%s is judged alike in Node and in a browser', async (_words, bundle, outcome, state, findings) => {
  const target = join(folder, 'bundle.zip');
  await writePackageBundle({ target, evidence: EVIDENCE, ...bundle });
  const bytes = new Uint8Array(readFileSync(target));
  const [node, browser] = [
    said(await verifyInNode(bytes, { now: new Date() })),
    said(await verifyInBrowser(bytes, { now: new Date() })),
  ];
  expect(browser).toEqual(node);
  expect([node.outcome, node.agreement?.state, node.findings]).toEqual([outcome, state, findings]);
  if (bundle.pdf !== undefined)
    expect(node.agreement?.basis ?? node.agreement?.reason).toMatch(
      /the PDF is not part of what is proved$|service's own check failed/,
    );
  rmSync(target);
});

test('a PDF that states another count refutes in Node; a browser repeats it where the export recorded it', async () => {
  const target = join(folder, 'bundle.zip');
  await writePackageBundle({ target, evidence: EVIDENCE, summary: SUMMARY, pdf: OTHER, restate: recorded('refuted') });
  const bytes = new Uint8Array(readFileSync(target));
  expect(said(await verifyInNode(bytes, { now: new Date() }))).toMatchObject({
    outcome: 'refuted',
    agreement: { state: 'refuted' },
    findings: [],
  });
  expect(said(await verifyInBrowser(bytes, { now: new Date() }))).toMatchObject({
    outcome: 'refuted',
    agreement: { state: 'proved' },
    findings: [],
  });
});
