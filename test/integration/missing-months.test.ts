import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { runDoctor } from '../../src/cli/doctor.ts';
import { runExport } from '../../src/cli/export.ts';
import { runRuns } from '../../src/cli/runs.ts';
import { runVerify } from '../../src/cli/verify.ts';
import { addMonths, lastEndedMonth } from '../../src/ledger/months.ts';
import { entryAfter, type SentEntry } from '../support/chain.ts';
import { type Answer, carryOut } from '../support/command.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Months that have ended: `[0]` is the last one. */
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
  beforeEach(async () => {
    for (const period of [THIRD, LAST]) expect((await exported({ period })).code).toBe(0);
  });

  test('is named by the export after it, by runs, doctor and verify', async () => {
    const { document } = await exported({ period: LAST, revise: true });
    expect(document.missing_months).toEqual([SECOND]);
    const { text } = await exported({ period: LAST, revise: true }, false);
    expect(text).toContain(`Missing       ${SECOND} is in no run: evidence export --missing`);
    const states = [
      [THIRD, 'whole', THIRD],
      [SECOND, 'none', null],
      [LAST, 'whole', `${LAST}.r3`],
    ];
    for (const [command, flags] of [[runRuns, {}] as const, [runVerify, { target: 'evidence-archive' }] as const]) {
      const { document: told } = await carryOut<never>(command, flags, directory);
      expect(told.months.map(({ month, state, run_id }: Record<string, unknown>) => [month, state, run_id])).toEqual(
        states,
      );
      const { text: words } = await carryOut<never>(command, flags, directory, { json: false });
      expect(words).toContain(`missing ${SECOND} is in no run`);
    }
    const doctor = await carryOut(runDoctor, {}, directory, { json: false, environment: environment() });
    expect(doctor.text).toMatch(new RegExp(`! months +${SECOND} is in no run → evidence export --missing`));
    expect(doctor.code).toBe(0);
  });

  test('is exported by --missing, and by nothing that only says so', async () => {
    const before = runsIn();
    const dry = await exported({ missing: true, 'dry-run': true });
    expect(dry.document.missing).toEqual([
      { month: SECOND, runId: SECOND, has: `${SECOND} is in no run`, isBegun: false },
    ]);
    expect([dry.code, runsIn()]).toEqual([0, before]);

    const { code, document, text } = await exported({ missing: true });
    expect([code, document.runs.map(({ run_id }: { run_id: string }) => run_id), document.left]).toEqual([
      0,
      [SECOND],
      [],
    ]);
    expect(text).not.toContain('error');
    expect(runsIn()).toEqual([THIRD, SECOND, LAST].sort());
    expect((await exported({ missing: true })).document.runs).toEqual([]);
    expect((await exported({ missing: true }, false)).text).toContain('No month is missing.');
  });

  test('exported later: the month after it keeps what was unproved when it was made, and all runs together agree', async () => {
    await exported({ missing: true });
    const continuity = (runId: string) => recordOf(runId).streams[0].claims.continuity;
    expect(continuity(LAST).state).toBe('unproved');
    expect(continuity(SECOND)).toMatchObject({ state: 'proved' });
    const { code, document } = await carryOut(runVerify, { target: 'evidence-archive' }, directory);
    expect([code, document.history]).toEqual([0, []]);
    expect(document.months.every(({ state }: { state: string }) => state === 'whole')).toBe(true);
  });
});

test('the one that was begun is gone on with first, then the oldest', async () => {
  expect((await exported({ period: FOURTH })).code).toBe(0);
  service.streams.set('b', { entries: entriesOf('b'), unavailable: true });
  expect((await exported({ period: SECOND })).code).toBe(3);
  service.streams.set('b', { entries: entriesOf('b') });
  const { code, document } = await exported({ missing: true });
  expect([code, document.runs.map(({ run_id }: { run_id: string }) => run_id)]).toEqual([0, [SECOND, THIRD, LAST]]);
});

test('it stops at the first that fails, says what is left, and goes on from there', async () => {
  expect((await exported({ period: FOURTH })).code).toBe(0);
  service.streams.set('b', { entries: entriesOf('b'), unavailable: true });
  const { code, text } = await exported({ missing: true }, false);
  expect(code).toBe(3);
  expect(text).toMatch(new RegExp(`^Run ${THIRD}: incomplete \\(exit code 3\\), 2 streams listed`, 'm'));
  expect(text).toContain(`Not exported after that: ${SECOND}, ${LAST}; the same command goes on with it.`);
  expect(existsSync(join(directory, 'evidence-archive/runs', SECOND))).toBe(false);
  service.streams.set('b', { entries: entriesOf('b') });
  expect((await exported({ missing: true })).document.runs).toHaveLength(3);
});

test('of a new archive the last month is missing', async () => {
  const { document } = await exported({ missing: true });
  expect(document.runs.map(({ run_id }: { run_id: string }) => run_id)).toEqual([LAST]);
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
  // The monthly job is neither refused nor answered with the try-out.
  expect((await exported({})).document).toMatchObject({
    run_id: LAST,
    state: 'sealed',
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
