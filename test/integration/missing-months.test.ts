import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runDoctor } from '../../src/exporter/cli/commands/doctor.ts';
import { runExport } from '../../src/exporter/cli/commands/export.ts';
import { runRuns } from '../../src/exporter/cli/commands/runs.ts';
import { runVerify } from '../../src/exporter/cli/commands/verify.ts';
import { addMonths, lastEndedMonth } from '../../src/verifier/records/months.ts';
import { entryAfter, type SentEntry } from '../support/chain.ts';
import { type Answer, carryOut } from '../support/command.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';
import { rebag } from '../support/rebag.ts';

/** Past months; `[0]` is the last one. */
const MONTHS = [0, -1, -2, -3].map((count) => addMonths(lastEndedMonth(new Date()), count));
const [LAST = '', SECOND = '', THIRD = '', FOURTH = ''] = MONTHS;

let service: FalseService;
let directory: string;

function entriesOf(stream_id: string): SentEntry[] {
  const entries: SentEntry[] = [];
  for (const month of MONTHS.toReversed())
    for (const day of ['05', '15'])
      entries.push(entryAfter(entries.at(-1) ?? null, { stream_id, timestamp: `${month}-${day}T12:00:00.000Z` }));
  return entries;
}

/** Returns the entries with another actor from one entry on. */
function rewriteFrom(entries: readonly SentEntry[], from: number): SentEntry[] {
  const after: SentEntry[] = [];
  for (const { stream_id, timestamp, sequence } of entries) {
    const actor = sequence < from ? {} : { actor: 'somebody else' };
    after.push(entryAfter(after.at(-1) ?? null, { stream_id, timestamp, ...actor }));
  }
  return after;
}

const environment = () => ({ EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: 'sk_of_this_test' });
const exported = (flags: Record<string, unknown>, json = true): Promise<Answer> =>
  carryOut(runExport, flags, directory, { json, environment: environment() });
const runsIn = () => readdirSync(join(directory, 'evidence-archive/runs')).sort();
const recordOf = (runId: string) =>
  JSON.parse(readFileSync(join(directory, 'evidence-archive/runs', runId, 'run.json'), 'utf8'));

beforeAll(async () => {
  service = await startFalseService();
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'missing-months-'));
  for (const id of ['a', 'b']) service.streams.set(id, { entries: entriesOf(id) });
});
afterAll(() => service.close());

describe('a month between two that were exported', () => {
  let template: string;
  beforeAll(async () => {
    directory = template = mkdtempSync(join(tmpdir(), 'missing-months-'));
    for (const id of ['a', 'b']) service.streams.set(id, { entries: entriesOf(id) });
    for (const period of [THIRD, LAST]) expect((await exported({ period })).code).toBe(0);
  });
  beforeEach(() => cpSync(template, directory, { recursive: true }));

  test('is named by the export after it, by runs, doctor and verify', async () => {
    const { document } = await exported({ period: LAST, revise: true });
    expect(document.missing_months).toMatchObject([{ month: SECOND, state: 'none', run_id: null }]);
    const { stdout } = await exported({ period: LAST, revise: true }, false);
    expect(stdout).toMatch(
      new RegExp(`missing ${SECOND} is in no finalized run\nExport them with: evidence export --missing`),
    );
    const states = [
      [THIRD, 'whole', THIRD],
      [SECOND, 'none', null],
      [LAST, 'whole', `${LAST}.r3`],
    ];
    for (const [command, flags] of [[runRuns, {}] as const, [runVerify, { targets: ['evidence-archive'] }] as const]) {
      const { document: told } = await carryOut<never>(command, flags, directory);
      expect(told.months.map(({ month, state, run_id }: Record<string, unknown>) => [month, state, run_id])).toEqual(
        states,
      );
      const { stdout: words } = await carryOut<never>(command, flags, directory, { json: false });
      expect(words).toContain(`missing ${SECOND} is in no finalized run`);
    }
    const doctor = await carryOut(runDoctor, {}, directory, { json: false, environment: environment() });
    expect(doctor.stdout).toMatch(new RegExp(`! months +${SECOND} is in no finalized run → evidence export --missing`));
    expect(doctor.code).toBe(3);
  });

  test('is exported by --missing, and by nothing that only says so', async () => {
    const before = runsIn();
    const dry = await exported({ missing: true, 'dry-run': true });
    expect(dry.document.missing).toEqual([
      {
        month: SECOND,
        runId: SECOND,
        has: `${SECOND} is in no finalized run`,
        isBegun: false,
        isGrown: false,
        isOutOfPlace: false,
      },
    ]);
    expect([dry.code, runsIn()]).toEqual([0, before]);

    const { code, document, stdout } = await exported({ missing: true });
    expect([code, document.runs.map(({ run_id }: { run_id: string }) => run_id), document.failed]).toEqual([
      0,
      [SECOND],
      [],
    ]);
    expect(stdout).not.toContain('error');
    expect(runsIn()).toEqual([THIRD, SECOND, LAST].sort());
    expect((await exported({ missing: true })).document.runs).toEqual([]);
    expect((await exported({ missing: true }, false)).stdout).toContain('No month is missing.');
  });

  const streamOf = async (flags: Record<string, unknown> = {}) => {
    const { code, document } = await carryOut(runVerify, { targets: ['evidence-archive'], ...flags }, directory);
    const run = document.runs.find(({ run_id }: { run_id: string }) => run_id === LAST);
    const [stream] = run.streams;
    const { state, basis, reason } = stream.claims.continuity;
    const found = stream.findings.map(({ message }: { message: string }) => message);
    return {
      code,
      state,
      words: basis ?? reason,
      found,
      count: stream.findings_count,
      document,
      status: stream.status,
    };
  };

  test('exported later: the record of the month after it stays, and all runs together prove that it joins on', async () => {
    await exported({ missing: true });
    const continuity = (runId: string) => recordOf(runId).streams[0].claims.continuity;
    expect(continuity(LAST).state).toBe('unproved');
    expect(continuity(SECOND)).toMatchObject({ state: 'proved' });
    const { document, ...judged } = await streamOf();
    const words = `follows entry 6, which run ${SECOND} has, finalized after this one`;
    expect(judged).toEqual({ code: 0, state: 'proved', words, found: [], count: 0, status: 'verified' });
    expect(document.history).toEqual([]);
    expect(document.months.every(({ state }: { state: string }) => state === 'whole')).toBe(true);
    expect(await streamOf({ require: ['order', 'content', 'continuity'] })).toMatchObject({ status: 'verified' });
  });

  test('exported later with everything else: a run that has its entries too joins it on where it is proved to agree', async () => {
    const { document } = await exported({ 'all-time': true });
    const words = `follows entry 6, which run ${document.run_id} has, finalized after this one`;
    expect(await streamOf()).toMatchObject({ code: 0, state: 'proved', words, found: [] });
  });

  test('exported later with everything else, which itself is unproved: that the two join is another question', async () => {
    for (const [id, { entries }] of service.streams) {
      // An entry dated in the last month, but recorded after that month was exported.
      const late = entryAfter(entries.at(-1) ?? null, { stream_id: id, timestamp: `${LAST}-16T12:00:00.000Z` });
      service.streams.set(id, { entries: [...entries, late] });
    }
    const { document } = await exported({ 'all-time': true });
    expect(document.streams[0].findings).toMatchObject([{ code: 'continuity/grown' }]);
    const words = `follows entry 6, which run ${document.run_id} has, finalized after this one`;
    expect(await streamOf()).toMatchObject({ code: 0, state: 'proved', words, found: [] });
  });

  test('rewritten before it is exported: the run that contradicts is named, not one before it', async () => {
    for (const [id, { entries }] of service.streams) {
      const rewritten = rewriteFrom(entries, 6);
      service.streams.set(id, { entries: rewritten });
    }
    expect((await exported({ missing: true })).code).toBe(1);
    const message = `the package starts at entry 7; run ${SECOND}, finalized after it, has another entry 6 than the one that entry 7 follows`;
    expect(await streamOf()).toMatchObject({ code: 1, state: 'unproved', words: message, found: [message] });
  });

  test('exported later, and not read: nothing is proved by it, and nobody is told to export what is there', async () => {
    await exported({ missing: true });
    const message = `the package starts at entry 7; run ${SECOND}, finalized after it, has entry 6, but it was not proved here that the two join`;
    expect(await streamOf({ run: LAST })).toMatchObject({
      code: 0,
      state: 'unproved',
      words: message,
      found: [message],
    });
  });

  test('exported later without its last entry: what is said is how far the archive reaches now', async () => {
    for (const [id, { entries }] of service.streams) {
      const short = (all: SentEntry[]) => all.slice(0, -1);
      service.streams.set(id, { entries, packaged: short, listed: short });
    }
    expect((await exported({ missing: true })).code).toBe(1);
    const message = `the package starts at entry 7, and entry 5 (run ${SECOND}) is the last known before it`;
    expect(await streamOf()).toMatchObject({ code: 1, state: 'unproved', words: message, found: [message] });
  });

  test('exported later, and altered since: it proves nothing, and its row shows it', async () => {
    await exported({ missing: true });
    const key = recordOf(SECOND).streams[0].bundle.key;
    const path = join(directory, 'evidence-archive', key);
    chmodSync(path, 0o644);
    await rebag(path, path, (files) => files.set('data/transfer-log.json', Buffer.from('{}')));
    const { document, ...judged } = await streamOf();
    expect(judged).toMatchObject({ code: 1, state: 'unproved', status: 'verified' });
    const row = document.runs.find(({ run_id }: { run_id: string }) => run_id === SECOND);
    expect(row.streams.map(({ status }: { status: string }) => status)).toEqual(['refuted', 'verified']);
    const alone = await carryOut(runVerify, { targets: [join('evidence-archive', key)] }, directory);
    expect(alone.document.streams.map(({ status }: { status: string }) => status)).toEqual(['refuted']);
  });
});

test('a month that was begun, and finalized after the one before it, joins on to that', async () => {
  service.streams.set('b', { entries: entriesOf('b'), unavailable: true });
  expect((await exported({ period: LAST })).code).toBe(3);
  const doctor = await carryOut(runDoctor, {}, directory, { json: false, environment: environment() });
  expect(doctor.stdout).toContain(`no past month is in a finalized run; started but not finalized: ${LAST}`);
  service.streams.set('b', { entries: entriesOf('b') });
  for (const period of [SECOND, LAST]) expect((await exported({ period })).code).toBe(0);
  for (const run of [undefined, LAST]) {
    const { document } = await carryOut(runVerify, { targets: ['evidence-archive'], run }, directory);
    const { streams } = document.runs.find(({ run_id }: { run_id: string }) => run_id === LAST);
    expect(streams[0]).toMatchObject({
      claims: { continuity: { basis: `follows entry 6, which run ${SECOND} has, finalized before this one` } },
      findings: [],
    });
  }
});

test('the one that was begun is gone on with first, then the oldest', async () => {
  expect((await exported({ period: FOURTH })).code).toBe(0);
  service.streams.set('b', { entries: entriesOf('b'), unavailable: true });
  expect((await exported({ period: SECOND })).code).toBe(3);
  service.streams.set('b', { entries: entriesOf('b') });
  const { code, document } = await exported({ missing: true });
  expect([code, document.runs.map(({ run_id }: { run_id: string }) => run_id)]).toEqual([0, [SECOND, THIRD, LAST]]);
});

test('a month that fails keeps no other from being exported, and is gone on with', async () => {
  expect((await exported({ period: FOURTH })).code).toBe(0);
  service.streams.set('b', { entries: entriesOf('b'), unavailable: true });
  expect((await exported({ period: THIRD })).code).toBe(3);
  service.streams.set('b', { entries: entriesOf('b') });
  // A planted file ends the export of its month.
  const planted = join(directory, 'evidence-archive/runs', THIRD, 'streams/c-00000000.zip');
  writeFileSync(planted, 'planted');
  const { code, stdout } = await exported({ missing: true }, false);
  expect([code, stdout]).toEqual([
    3,
    expect.stringMatching(new RegExp(`^Month ${THIRD}: not exported .*c-00000000`, 'm')),
  ]);
  expect(stdout).toContain(`Failed: ${THIRD} (exit code 3).`);
  expect(stdout).toMatch(new RegExp(`^Run ${LAST}: verified`, 'm'));
  rmSync(planted);
  const { document } = await exported({ missing: true });
  expect(document.runs.map(({ run_id }: { run_id: string }) => run_id)).toEqual([THIRD]);
  expect((await exported({ missing: true })).document).toMatchObject({ exit_code: 0, runs: [], failed: [] });
});

test('a key that was rotated after an interruption holds up no month', async () => {
  expect((await exported({ period: FOURTH })).code).toBe(0);
  service.streams.set('b', { entries: entriesOf('b'), unavailable: true });
  expect((await exported({ period: THIRD })).code).toBe(3);
  service.streams.set('b', { entries: entriesOf('b') });
  const rotated = { ...environment(), EVIDENCE_API_KEY: 'sk_after_the_rotation' };
  const { code, document } = await carryOut(runExport, { missing: true }, directory, { environment: rotated });
  const names = document.runs.map(({ run_id }: { run_id: string }) => run_id);
  expect([code, names]).toEqual([0, [`${THIRD}.r2`, SECOND, LAST]]);
  expect(recordOf(`${THIRD}.r2`).supersedes).toEqual([THIRD]);
  const verified = await carryOut<never>(runVerify, { targets: ['evidence-archive'] }, directory);
  expect(verified).toMatchObject({ code: 0, document: { open_runs: [{ run_id: THIRD, state: 'superseded' }] } });
});

test('of a new archive the last month is missing', async () => {
  const { document } = await exported({ missing: true });
  expect(document.runs.map(({ run_id }: { run_id: string }) => run_id)).toEqual([LAST]);
});

test('of a new archive the first month that was begun is gone on with, also when a later one is whole', async () => {
  service.streams.set('b', { entries: entriesOf('b'), unavailable: true });
  expect((await exported({ period: SECOND })).code).toBe(3);
  service.streams.set('b', { entries: entriesOf('b') });
  const dry = await exported({ missing: true, 'dry-run': true });
  expect(dry.document.missing).toMatchObject([
    { month: SECOND, isBegun: true },
    { month: LAST, isBegun: false },
  ]);
  expect((await exported({ period: LAST })).code).toBe(0);
  const { code, document } = await exported({ missing: true });
  expect([code, document.runs.map(({ run_id }: { run_id: string }) => run_id)]).toEqual([0, [SECOND]]);
  expect((await carryOut(runVerify, { targets: ['evidence-archive'] }, directory)).code).toBe(0);
});

test('a month of which one stream was tried out is missing; of that stream it is not', async () => {
  const tried = await exported({ period: LAST, stream: ['a'] });
  expect(tried.document.run_id).toMatch(new RegExp(`^${LAST}_a-[0-9a-f]{8}$`));
  const only = await exported({ missing: true, 'dry-run': true, stream: ['a'] });
  expect(only.document.missing).toEqual([]);
  const all = await exported({ missing: true, 'dry-run': true });
  expect(all.document.missing).toMatchObject([
    { runId: LAST, has: `of ${LAST} run ${tried.document.run_id} has 1 of 2 streams` },
  ]);
  expect(tried.document.missing_months).toMatchObject([
    { month: LAST, state: 'partial', run_id: tried.document.run_id, streams: { whole: 1, listed: 2 } },
  ]);
  // The monthly job exports the whole month; the trial run neither blocks nor replaces it.
  expect((await exported({})).document).toMatchObject({
    run_id: LAST,
    state: 'finalized',
    reconciliation: { exported: 2 },
  });
  expect((await exported({ missing: true })).document.runs).toEqual([]);
});

test.each([
  [{ period: LAST }, 'period'],
  [{ from: '2026-01-01' }, 'from'],
  [{ 'all-time': true }, 'all-time'],
  [{ request: 'R' }, 'request'],
  [{ revise: true }, 'revise'],
])('--missing says which months, and no other flag does: %j', async (flags, name) => {
  const { code, said } = await exported({ missing: true, ...flags });
  expect([code, said]).toEqual([2, expect.stringContaining(`--${name}`)]);
});
