import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FalseService } from '../support/false-service.ts';
import { run } from '../support/process.ts';
import { ledgerOf, type RunFigures, recomputeFigures, type StreamFigures } from '../support/recomputed-figures.ts';
import {
  type Authority,
  MONTH,
  makeAuthority,
  makeReportRun,
  REQUEST,
  type ReportRun,
  reportRuns,
} from '../support/report-runs.ts';

const squeezed = (text: string) => text.replace(/\s+/g, '');
const grouped = (count: number) => count.toLocaleString('en');
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

const PERIODS: Record<string, { from: string; to: string }> = {
  [MONTH]: { from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' },
  '2026-09': { from: '2026-09-01T00:00:00.000Z', to: '2026-10-01T00:00:00.000Z' },
};
const DAYS = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
const CLOCK = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
});
const inWords = (time: string) => `${DAYS.format(new Date(time))} ${CLOCK.format(new Date(time))}`;

/** Figures as the reports show them. */
interface Shown {
  pdf: string;
  html: string;
  rows: Record<string, string>[];
  // biome-ignore lint/suspicious/noExplicitAny: a standard's document, whose schema another test checks.
  oscal: any;
}

async function show(folder: string): Promise<Shown> {
  const [head = [], ...rows] = readFileSync(join(folder, 'index.csv'), 'utf8')
    .replace('\ufeff', '')
    .trimEnd()
    .split('\r\n')
    .map(fieldsOf);
  const html = readFileSync(join(folder, 'report.html'), 'utf8').split('<script')[0] ?? '';
  const words = html
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
  return {
    pdf: squeezed(await run('pdftotext', ['-layout', join(folder, 'report.pdf'), '-'])),
    html: squeezed(words),
    rows: rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index] ?? '']))),
    oscal: JSON.parse(readFileSync(join(folder, 'assessment-results.json'), 'utf8'))['assessment-results'],
  };
}

/** Parses a line of RFC 4180 whose fields have no line breaks. */
function fieldsOf(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, plain = '']) =>
    quoted === undefined ? plain : quoted.replaceAll('""', '"'),
  );
}

let authority: Authority;
beforeAll(async () => {
  authority = await makeAuthority();
});

const NAMES = ['clean', 'of a month', 'filtered', 'resumed', 'partial', 'refuted', 'vanished', 'empty'];

describe.each(NAMES)('a run that is %s', (name) => {
  let service: FalseService;
  let scenario: ReportRun;
  let figures: RunFigures;
  let shown: Shown;
  let archive: string;
  const named = () => Object.keys(scenario.streams);
  const excluded = () => named().filter((id) => scenario.exclude !== undefined && id.startsWith('log'));
  const failed = () => scenario.failed ?? [];
  const vanished = () => Object.keys(scenario.before?.streams ?? {}).filter((id) => !named().includes(id));
  const entriesOf = (ids: readonly string[]) => sum(ids.map((id) => scenario.streams[id]?.entries.length ?? 0));
  const isAllTime = () => scenario.period === undefined;

  beforeAll(async () => {
    scenario = reportRuns(authority).find(({ words }) => words === name) as ReportRun;
    const made = await makeReportRun(scenario, authority);
    ({ service } = made);
    expect(made.code).toBe(scenario.code);
    archive = join(service.directory, 'evidence-archive');
    const heads = isAllTime()
      ? Object.fromEntries(Object.entries(scenario.streams).map(([id, { entries }]) => [id, entries.length]))
      : {};
    figures = await recomputeFigures(archive, REQUEST, PERIODS[scenario.period ?? ''] ?? null, heads);
    shown = await show(join(archive, 'runs', REQUEST));
  });
  afterAll(async () => {
    await service.close();
    rmSync(service.directory, { recursive: true, force: true });
  });

  /** Expects these words in both documents, with anything between them. */
  const expectSaid = (words: string) => {
    expect(shown.pdf).toContain(squeezed(words));
    expect(shown.html).toContain(squeezed(words));
  };

  test('the archive verifies as it was exported', async () => {
    expect((await service.verify()).code).toBe(scenario.code);
  });

  test('streams and entries of the control totals', () => {
    const missing = figures.streams.filter((stream) => stream.missing.length > 0);
    const listed = figures.streams.filter((stream) => stream.listed !== null);
    const inScope = named().length - excluded().length;
    const stated = (ids: readonly string[]) => (isAllTime() ? grouped(entriesOf(ids)) : '–');
    const rows: [string, number, string][] = [
      ['Listed by the service', named().length, stated(named())],
      ['In scope', inScope, stated(named().filter((id) => !excluded().includes(id)))],
      ['Received, complete or partial', inScope - failed().length, grouped(figures.entries)],
      ['Listed by the service entry by entry', listed.length, grouped(sum(listed.map((stream) => stream.listed ?? 0)))],
      [
        'Known to be missing from what was received',
        missing.length,
        grouped(sum(missing.map((stream) => stream.missing.length))),
      ],
    ];
    if (excluded().length > 0) rows.push(['Excluded by the operator', excluded().length, stated(excluded())]);
    if (failed().length > 0) rows.push(['Not received', failed().length, stated(failed())]);
    if (vanished().length > 0)
      rows.push([
        'In earlier exports, but no longer listed',
        vanished().length,
        grouped(sum(vanished().map((id) => ledgerOf(archive).heads[id] ?? 0))),
      ]);
    for (const [label, streams, entries] of rows) expectSaid(`${label} ${grouped(streams)} ${entries}`);
  });

  test('when it was received, and in how many exports', () => {
    expectSaid(
      `From ${figures.receivedFrom}, the first answered request for a stream, to ${figures.receivedTo}, when the last archived`,
    );
    for (const began of figures.exports) expect(shown.pdf).toContain(squeezed(began));
    expect(shown.pdf.includes(squeezed('The export resumed.'))).toBe(scenario.words === 'resumed');
    expect(figures.exports).toHaveLength(scenario.words === 'resumed' ? 2 : 1);
  });

  test('the first and the last entry, by both of their times', () => {
    const ends = figures.streams.filter(({ first }) => first !== null);
    const first = ends.toSorted((a, b) => ((a.first?.recorded ?? '') < (b.first?.recorded ?? '') ? -1 : 1))[0];
    const last = ends.toSorted((a, b) => ((a.last?.recorded ?? '') < (b.last?.recorded ?? '') ? 1 : -1))[0];
    for (const [word, end] of [
      ['First', first?.first],
      ['Last', last?.last],
    ] as const) {
      if (end == null) expect(shown.pdf).not.toContain(`${word}entry:`);
      else {
        expectSaid(`${word} entry: ${end.sequence} of`);
        expectSaid(`recorded ${inWords(end.recorded)}, occurred ${inWords(end.occurred)}.`);
      }
    }
  });

  test('how far entries are time-stamped', () => {
    const anchored = figures.streams.filter(({ anchoredThrough }) => anchoredThrough !== null);
    if (anchored.length === 0) {
      expectSaid('No entry is shown to be time-stamped');
      return;
    }
    const covered = sum(anchored.map(({ entries, afterAnchor }) => entries - (afterAnchor ?? 0)));
    expectSaid(`${grouped(covered)} of ${grouped(figures.entries)} entries in ${anchored.length} of`);
    expectSaid('by CN=Test Authority, from 20 October 2026 10:00:00 to 22 October 2026 10:00:00.');
    for (const { streamId, anchoredThrough, afterAnchor } of anchored)
      expectSaid(`${afterAnchor} in “${streamId}”, after entry ${anchoredThrough}`);
  });

  test('days without an entry', () => {
    const { quietDays } = figures;
    if (figures.entries === 0) expect(shown.pdf).not.toContain(squeezed('Without an entry in any stream'));
    else expectSaid(`Without an entry in any stream of this run (${quietDays} day${quietDays === 1 ? '' : 's'}):`);
  });

  test('index.csv, stream by stream', () => {
    const rowOf = (id: string) => shown.rows.find((row) => row['stream_id'] === id) ?? {};
    for (const stream of figures.streams) expect(rowOf(stream.streamId)).toMatchObject(inColumns(stream));
    for (const id of [...failed(), ...excluded()])
      expect([id, rowOf(id)['stated_entries']]).toEqual([id, String(entriesOf([id]))]);
    for (const id of vanished())
      expect([id, rowOf(id)['missing_entries']]).toEqual([id, String(ledgerOf(archive).heads[id])]);
    expect(shown.rows).toHaveLength(named().length + vanished().length);
  });

  test('OSCAL, stream by stream', () => {
    const [result] = shown.oscal.results;
    const propsOf = (holder: { props: { name: string; value: string }[] }) =>
      Object.fromEntries(holder.props.map(({ name: prop, value }) => [prop, value]));
    expect(propsOf(result)).toMatchObject({
      entries: String(figures.entries),
      'streams-listed': String(named().length),
    });
    for (const stream of figures.streams) {
      const observation = result.observations.find(({ title }: { title: string }) => title === stream.streamId);
      expect(observation.collected).toBe(stream.receivedTo);
      expect(propsOf(observation)).toMatchObject({
        entries: String(stream.entries),
        'missing-entries': String(stream.missing.length),
        ...(stream.first === null ? {} : { 'first-recorded-at': stream.first.recorded }),
        ...(stream.last === null ? {} : { 'last-occurred-at': stream.last.occurred }),
      });
    }
    expect(result.observations).toHaveLength(named().length + vanished().length);
  });
});

/** Returns the cells that the row of a stream must have. */
function inColumns({ first, last, listed, ...stream }: StreamFigures): Record<string, string> {
  return {
    entries: String(stream.entries),
    listed_entries: String(listed ?? ''),
    missing_entries: String(stream.missing.length),
    first_sequence: String(first?.sequence ?? ''),
    first_recorded_at: first?.recorded ?? '',
    first_occurred_at: first?.occurred ?? '',
    head_sequence: String(last?.sequence ?? ''),
    last_recorded_at: last?.recorded ?? '',
    last_occurred_at: last?.occurred ?? '',
    requested_at: stream.receivedFrom,
    received_at: stream.receivedTo,
  };
}
