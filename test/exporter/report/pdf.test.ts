import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readControls } from '../../../src/exporter/cli/config/controls.ts';
import { renderAttemptReport, renderReports } from '../../../src/exporter/report/reports.ts';
import { CLAIMS } from '../../../src/verifier/claims/claim.ts';
import { toStreamFinding } from '../../../src/verifier/model/stream-finding.ts';
import type { RunRecord } from '../../../src/verifier/records/record.ts';
import { joined } from '../../support/pieces.ts';
import { run } from '../../support/process.ts';
import { earlierRun, monthStream, partialRun, refutedRun, verifiedRun } from '../../support/run-records.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'report-pdf-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function pdfOf(record: RunRecord): Promise<Uint8Array> {
  const { value: pdf } = await renderReports(record).next();
  if (pdf?.name !== 'report.pdf') throw new Error('the report is not the first document');
  return joined(pdf.pieces);
}

async function save(bytes: Uint8Array): Promise<string> {
  const file = join(folder, `${crypto.randomUUID()}.pdf`);
  await writeFile(file, bytes);
  return file;
}

async function pages(file: string, ...options: string[]): Promise<string[]> {
  const stdout = await run('pdftotext', [...options, file, '-']);
  return stdout.split('\f').slice(0, -1);
}

const squeezed = (text: string) => text.replace(/\s+/g, '');

async function expectSound(file: string): Promise<void> {
  const stdout = await run('qpdf', ['--check', file]);
  expect(stdout).toContain('No syntax or stream encoding errors found');
  const boxes = await run('pdftotext', ['-bbox', file, '-']);
  const words = [...boxes.matchAll(/xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)"/g)];
  expect(words.length).toBeGreaterThan(100);
  const outside = words.filter(
    ([, xMin, yMin, xMax, yMax]) =>
      Number(xMin) < 50 || Number(xMax) > 545.5 || Number(yMin) < 20 || Number(yMax) > 815,
  );
  expect(outside.map(([box]) => box)).toEqual([]);
}

describe('the report of a month', () => {
  const record = verifiedRun([monthStream(1), monthStream(2)], { earlier_runs: [earlierRun('2026-08', 'refuted')] });
  record.report.controls = readControls(['soc2', 'hipaa']);
  let file: string;
  let text: string;

  beforeAll(async () => {
    file = await save(await pdfOf(record));
    text = squeezed((await pages(file)).join('\n'));
  });

  test('is a sound document whose words stand on the page', () => expectSound(file));

  test.each([
    ['organisation', 'Acme Payments Ltd'],
    ['source system', 'https://audit.example.com'],
    ['requests and their parameters', 'GET /audit/streams/?limit=500'],
    ['period and time zone', 'October 2026 (1–31 October 2026, UTC). Times are in UTC'],
    [
      'extraction',
      'From 2026-11-01T00:00:01.000Z, the first answered request for a stream, to 2026-11-01T00:00:30.000Z',
    ],
    ['tool, version and commit', 'evidence-exporter 0.1.0, commit c0ffee'],
    ['operator', 'evidence on batch-7'],
    ['who requested it', 'J. Smith, Example Audit'],
    ['request', 'AUD-2026-014'],
    ['who prepared it', 'P. Jones, Audit Liaison'],
    ['cut-off', 'whether it is in the period (field “timestamp”)'],
    ['first entry', 'First entry: 1 of “prod/service-1”, recorded 1 October 2026, occurred 30 September 2026 23:59:59'],
    ['a conclusion', 'Each condition below is met for every stream in scope (2 streams)'],
    ['scope', 'streams that match prod/*'],
    ['exclusions', 'without those that match */debug'],
    ['population', '2 streams listed = 2 exported + 0 partial + 0 failed + 0 empty + 0 excluded'],
    ['sequence range and head', `1–${record.streams.at(0)?.entries}  head ${record.streams.at(0)?.head?.hash}`],
    ['digest of a bundle', `bundle SHA-256 ${record.streams.at(1)?.bundle.sha256}`],
    ['not edited', 'Not edited after extraction'],
    ['missing signature', 'The run is not signed.'],
    ['reviewer', 'Reviewed by (name)'],
    ['what it does not prove', 'that the service logged everything that happened'],
    ['how to verify', 'sha256sum -c manifest-sha256.txt'],
    ['earlier run', 'August 2026 (1–31 August 2026, UTC)'],
    ['a control', '164.312(b)'],
    ['where a control ends', 'Does not show:'],
  ])('states the %s', (_what, words) => expect(text).toContain(squeezed(words)));

  test('never calls anything compliant', () => expect(text).not.toMatch(/complian|conform/i));

  test('has a bookmark for each section, is tagged, and has headings, tables and figures with a description', async () => {
    const stdout = await run('pdfinfo', ['-struct-text', file]);
    for (const role of ['H1', 'H2', 'Table', 'TH', 'TD', 'Figure', 'LI'])
      expect(stdout).toMatch(new RegExp(`^ +${role}\\b`, 'm'));
    expect(await run('pdfinfo', [file])).toMatch(/Tagged: +yes/);
    const json = JSON.parse(await run('qpdf', ['--json', '--json-key=outlines', file]));
    const titles = json.outlines.map(({ title }: { title: string }) => title);
    expect(titles).toEqual(expect.arrayContaining(['IPE statement', 'Findings', 'Chain of custody', 'Streams']));
    const objects = await run('qpdf', ['--qdf', '--object-streams=disable', file, '-']);
    expect(objects.match(/\/S \/Figure/g)?.length).toBe(objects.match(/\/Alt /g)?.length);
    expect(objects.match(/\/S \/Figure/g)).toHaveLength(4);
  });

  test('is the same bytes for the same run, and others for another', async () => {
    const again = await pdfOf(structuredClone(record));
    expect(Buffer.from(again).equals(await pdfOf(record))).toBe(true);
    const other = await pdfOf({ ...record, operator: { user: 'someone', host: 'else' } });
    expect(Buffer.from(again).equals(other)).toBe(false);
  });
});

describe('the first page', () => {
  test.each([
    ['refuted', refutedRun(), ['REFUTED', 'Do not rely on this evidence', 'order/gap · 1 stream', 'content/mismatch']],
    ['partial', partialRun(), ['PARTIAL', 'of 5 streams listed, 1 partial or unproved and 1 not collected']],
  ])('of a %s run says so, and every other page has the word at its head', async (_what, record, words) => {
    const [first = '', ...others] = await pages(await save(await pdfOf(record)));
    for (const word of words) expect(squeezed(first)).toContain(squeezed(word));
    for (const page of others) expect(page).toContain(words[0]);
  });

  test('of an attempt says that the run is not finalized', async () => {
    const [first = ''] = await pages(await save(joined((await renderAttemptReport(partialRun())).pieces)));
    expect(squeezed(first)).toContain(squeezed('PARTIAL'));
    expect(squeezed(first)).toContain(squeezed('The run is not finalized'));
  });

  test('of a verified run does not hide what is unproved', async () => {
    const unproved = monthStream(1, 's', {}, { seal: 'unproved', anchor: 'unproved' });
    const [first = ''] = await pages(await save(await pdfOf(verifiedRun([unproved]))), '-layout');
    for (const claim of CLAIMS) expect(first).toContain(claim);
    expect(first.match(/0 of 1/g)).toHaveLength(2);
    expect(first).toMatch(/Not proved: seal \(1 of 1 stream with entries\),\s+anchor \(1 of 1\)/);
    expect(first.match(/1 of 1/g)).toHaveLength(5 + 2);
  });
});

test('findings stand with what they mean and what contradicts each other; what to do next stands in a part of its own', async () => {
  const text = squeezed((await pages(await save(await pdfOf(refutedRun())))).join('\n'));
  for (const words of [
    'Sequence numbers are missing.',
    'Ask for the missing entries by number.',
    'entries 7 to 9',
    `stated by the entry: ${refutedRun().streams.at(2)?.findings[0]?.expected}`,
    'For the preparer',
    'the service no longer lists the stream',
  ])
    expect(text).toContain(squeezed(words));
});

test('the period of a run, and the reason of what was accepted, stand whole', async () => {
  const reason = `a restart or an end after entry 12 of run 2026-10 was accepted by ana: ${'restored from a backup; '.repeat(10)}OPS-4711`;
  const accepted = toStreamFinding('continuity/accepted', 's', reason, { sequence: 12 });
  const until = '2026-11-22T18:14:51.334Z';
  const earlier = { ...earlierRun('2026-09'), run_id: 'r'.repeat(80), until };
  const record = verifiedRun([monthStream(1, 's', { findings: [accepted] })], {
    earlier_runs: [{ ...earlier, period: { from: '2026-09-01T12:34:56.789Z', to: null } }],
  });
  const text = squeezed((await pages(await save(await pdfOf(record)))).join(''));
  expect(text).toContain(squeezed('up to the export of 22 November 2026, 18:14'));
  expect(text).toContain('r'.repeat(80));
  expect(text).toContain(squeezed(`s: ${reason} (1 stream)`));
});

/** Lines that must not end a page: titles, and headings of tables. */
const LEADS = [
  /^(IPE statement|Control totals|Exceptions and exclusions|What was checked|Findings|Activity|Coverage by month)$/,
  /^(Chain of custody|What this does not prove|How to verify it yourself|Control mapping|For the preparer|Streams)$/,
  /^(\d\. .*|Entries (per|by) .*|\S+ · \d+ streams?|SOC 2,.*|PCI DSS.*|HIPAA.*)$/,
  /(In this run|What was found|What +Why|Unproved|Streams +Entries|Outcome +Streams +Entries|Who +What)$/,
  /is for the assessor to conclude\.$|is for the reader to say\.$|need no tool of ours.*|stands in run\.json\.$/,
  /^(ERROR|WARNING)/,
];

test('whatever stands before it, no title and no head of a table is left alone at the end of a page', async () => {
  const record = refutedRun();
  record.report.controls = readControls(['soc2', 'pci-dss-4', 'hipaa']);
  const alone: string[] = [];
  for (let count = 0; count < 24; count++) {
    record.excluded = Array.from({ length: count }, (_, index) => ({
      stream_id: `s-${index}`,
      pattern: 'x',
    }));
    for (const page of await pages(await save(await pdfOf(record)), '-layout')) {
      const lines = page.split('\n').flatMap((line) => line.trim() || []);
      const last = lines.at(-2) ?? '';
      if (LEADS.some((lead) => lead.test(last))) alone.push(`${count}: ${last}`);
    }
  }
  expect(alone.join('\n')).toBe('');
});

test('a run that only misses a stream has no page without words, and no label over another', async () => {
  const file = await save(await pdfOf({ ...refutedRun(), streams: [] }));
  for (const page of await pages(file)) expect(page.trim().split('\n').length).toBeGreaterThan(8);
  const [, second = ''] = await pages(file, '-layout');
  expect(second).toMatch(/^Extraction +Nothing was received\.$/m);
  expect(second).toMatch(/^Sequences and heads +The sequence range/m);
});

test('what is said of a stream stands whole, however long the name of its authority', async () => {
  const authority = 'O=Evidence Platform, CN=Development Time-Stamping Authority (not an external witness)';
  const stream = monthStream(1);
  const anchor = {
    state: 'proved' as const,
    basis: 'a token',
    anchored_through: 10,
    entries_after_last_anchor: 83,
    anchored_from: '2026-10-01T00:00:00.000Z',
    anchored_to: '2026-10-02T00:00:00.000Z',
    authorities: [authority],
  };
  const text = await pages(await save(await pdfOf(verifiedRun([{ ...stream, claims: { ...stream.claims, anchor } }]))));
  expect(squeezed(text.join(''))).toContain(
    squeezed(`anchored up to entry 10 by ${authority}, from 1 October 2026 to 2 October 2026; 83 entries after it`),
  );
});

test('names of any script and of 300 characters stand whole; what cannot be set is marked', async () => {
  const names = [
    '生产环境/支付-服务',
    '🔐 vault',
    'русский/Ελληνικά',
    '한국어-로그',
    'a'.repeat(300),
    '生'.repeat(300),
    '👩\u200d🚀'.repeat(60),
    'stream with spaces '.repeat(16).slice(0, 300),
  ];
  const file = await save(
    await pdfOf(verifiedRun([...names, 'المدفوعات', 'a\u200bb'].map((name, index) => monthStream(index, name)))),
  );
  await expectSound(file);
  const fonts = await run('pdffonts', [file]);
  for (const font of ['DejaVuSans', 'NotoSansSC', 'NotoEmoji', 'unifont'])
    expect(fonts).toMatch(new RegExp(`^EVIDNC\\+${font}.* yes yes yes `, 'm'));
  const text = squeezed((await pages(file)).slice(-4).join(''));
  for (const name of names) expect(text).toContain(squeezed(name.replaceAll('\u200d', '‹U+200D›')));
  // Readers return Arabic letter by letter from the right, in any form that they know.
  expect(text.normalize('NFKC')).toMatch(/المدفوعات|تاعوفدملا/);
  expect(text).toContain('a‹U+200B›b');
});

test('of two thousand streams those are listed in which something is amiss, with their digests; the others are counted', async () => {
  const amiss = [monthStream(7, 'prod/half', { partial: true }), monthStream(8, 'prod/open', { status: 'incomplete' })];
  const well = Array.from({ length: 1998 }, (_, index) => monthStream(index + 10));
  const file = await save(await pdfOf(verifiedRun([...well, ...amiss])));
  await expectSound(file);
  const all = await pages(file, '-layout');
  const text = all.join('\n');
  for (const { stream_id, bundle } of amiss) {
    expect(text).toMatch(new RegExp(`^${stream_id} +\\d+ +(✓ *){7}(PARTIAL|incomplete)`, 'm'));
    expect(text).toContain(bundle.sha256);
  }
  expect(text).not.toContain(well[0]?.bundle.sha256);
  expect(squeezed(text)).toContain(squeezed('It omits 1,998 streams; index.csv has them all'));
  expect(all.length).toBeLessThan(20);
});

test('a hundred streams stand with their marks and digests, each', async () => {
  const record = verifiedRun(Array.from({ length: 100 }, (_, index) => monthStream(index)));
  const file = await save(await pdfOf(record));
  await expectSound(file);
  const text = (await pages(file, '-layout')).join('\n');
  for (const { stream_id, bundle } of record.streams) {
    expect(text).toMatch(new RegExp(`^${stream_id} +\\d+ +(✓ *){7}verified`, 'm'));
    expect(text).toContain(bundle.sha256);
  }
});
