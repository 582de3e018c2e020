import { describe, expect, test } from 'vitest';
import type { WalkResult } from '../../../src/verifier/chain/walk.ts';
import { judgeContinuity } from '../../../src/verifier/claims/continuity.ts';
import type { ContinuityQuestion } from '../../../src/verifier/claims/continuity-question.ts';
import { lookOut } from '../../../src/verifier/claims/past.ts';
import type { Restart, Span, SpanEntries } from '../../../src/verifier/claims/schemas.ts';
import {
  bare,
  chainOf,
  GENESIS,
  NO_STATEMENT,
  packageOf,
  readPackage,
  type SentEntry,
  STREAM,
  sealed,
  statedAt,
} from '../../support/chain.ts';

const intact = chainOf(20);
const digestOf = (sequence: number) => intact[sequence - 1]?.hash ?? GENESIS;
const timeOf = (sequence: number) => intact[sequence - 1]?.timestamp ?? '';
const ALL_TIME = { from: null, to: null };

/** Returns a run that had these entries of the intact chain, with changes. */
function run(first: number, last: number, more: Partial<SpanEntries> = {}, period: Span['period'] = ALL_TIME): Span {
  return {
    run_id: '2026-09',
    period,
    part: false,
    entries: {
      first_sequence: first,
      previous_hash: digestOf(first - 1),
      head: { sequence: last, hash: digestOf(last) },
      first_recorded_at: timeOf(first),
      last_recorded_at: timeOf(last),
      digests_bind: true,
      entries_sha256: null,
      agrees: true,
      ...more,
    },
  };
}
const earlier = (...spans: Span[]) => ({ earlier: spans });
const head = (sequence: number, digest = digestOf(sequence)) =>
  earlier(run(1, sequence, { head: { sequence, hash: digest } }));
const slice = (from: number, to: number) => intact.slice(from - 1, to);

function walkOf(entries: SentEntry[], earlier: readonly Span[] = [], restarts: readonly Restart[] = []): WalkResult {
  const look = lookOut(
    () => ({ earlier, restarts }),
    ALL_TIME,
    () => [],
  );
  const [watch, compared, dated] = [look.watch(STREAM), look.compared(STREAM), look.dated(STREAM)];
  return readPackage(packageOf(entries), { streamId: STREAM, watch, compared, dated }).walk;
}

function judge(entries: SentEntry[], more: Partial<ContinuityQuestion> = {}) {
  const walk = walkOf(entries, more.earlier ?? [], more.restarts);
  const question = {
    walk,
    earlier: [],
    period: ENDED,
    statement: NO_STATEMENT,
    unfetched: null,
    restarts: [],
    ...more,
  };
  const { claim, findings } = judgeContinuity(question);
  return { ...claim, found: bare(findings.list()), errors: findings.errors('continuity') };
}

/** Period without entries. */
const ENDED = { from: '2020-01-01T00:00:00Z', to: '2020-02-01T00:00:00Z' };
/** Returns the period from one entry to another, which is excluded. */
const between = (from: number | null, to: number | null) => ({
  period: { from: from === null ? null : timeOf(from), to: to === null ? null : timeOf(to) },
});
const NOW = { period: { from: '2026-09-30T00:00:00Z', to: null } };
const ALL = { period: ALL_TIME };
const TABLE: [string, SentEntry[], Partial<ContinuityQuestion>, string, string[]][] = [
  ['the start, no earlier head', intact, {}, 'proved', []],
  [
    'a first entry with a predecessor',
    [sealed({ ...(intact[0] as SentEntry), prev_hash: digestOf(9) })],
    {},
    'unproved',
    [],
  ],
  ['the middle, no earlier head', slice(5, 20), {}, 'unproved', ['continuity/unknown-start 5']],
  ['it contains the head', intact, head(10), 'proved', []],
  ['it ends with the head', slice(1, 10), { ...head(10), ...NOW }, 'proved', []],
  ['it begins with the head', slice(10, 20), head(10), 'proved', []],
  ['it follows the head', slice(11, 20), head(10), 'proved', []],
  ['another entry in the place of the head', intact, head(10, digestOf(9)), 'refuted', ['continuity/rewritten 10']],
  ['it follows another head', slice(11, 20), head(10, digestOf(9)), 'refuted', ['continuity/rewritten 10']],
  ['it begins too late', slice(12, 20), head(10), 'unproved', ['continuity/unknown-start 12']],
  ['an earlier period', slice(1, 5), head(10), 'unproved', []],
  [
    'it should reach now and ends early',
    slice(1, 5),
    { ...head(10), ...NOW },
    'refuted',
    ['continuity/truncated 6-10'],
  ],
  [
    'an earlier period, and the stream is shorter',
    slice(1, 5),
    { ...head(10), statement: statedAt(7) },
    'refuted',
    ['continuity/truncated 8-10'],
  ],
  [
    'an earlier period, and the stream is longer',
    slice(1, 5),
    { ...head(10), statement: statedAt(20) },
    'unproved',
    [],
  ],
  ['one short', slice(1, 9), { ...head(10), ...NOW }, 'refuted', ['continuity/truncated 10-10']],
  ['the head in a hole', [...slice(1, 8), ...slice(12, 20)], head(10), 'unproved', []],
  ['nothing, no earlier head', [], ALL, 'unproved', []],
  ['nothing in the period', [], { ...head(10), ...between(15, null) }, 'unproved', []],
  ['nothing in a period that ended', [], head(10), 'unproved', []],
  ['nothing at all any more', [], { ...head(10), ...ALL }, 'refuted', ['continuity/truncated 1-10']],
  [
    'nothing in the period, and the stream is shorter',
    [],
    { ...head(10), statement: statedAt(7) },
    'refuted',
    ['continuity/truncated 8-10'],
  ],
  ['nothing in the period, and the stream is as long', [], { ...head(10), statement: statedAt(10) }, 'unproved', []],
];

describe('the history that earlier exports saw', () => {
  test.each(TABLE)('%s', (_words, entries, question, state, found) => {
    const claim = judge(entries, question);
    expect([claim.state, claim.found]).toEqual([state, found]);
    expect(claim.errors).toBe(state === 'refuted' ? 1 : 0);
    expect(state === 'proved' ? claim.basis : claim.reason).toMatch(/./);
  });
});

test('a digest that is not that of its entry proves nothing, edited or not', () => {
  const edited = intact.with(4, { ...(intact[4] as SentEntry), actor: 'm' });
  expect(judge(edited, head(10)).state).toBe('unproved');
});

test('the finding names both digests', () => {
  const { earlier } = head(10, 'ab');
  const walk = walkOf(intact, earlier);
  const { findings } = judgeContinuity({
    walk,
    earlier,
    period: ALL_TIME,
    statement: NO_STATEMENT,
    unfetched: null,
    restarts: [],
  });
  expect(findings.list()).toMatchObject([
    { expected: 'ab', actual: digestOf(10), message: expect.stringContaining('2026-09') },
  ]);
});

test('a hole where the head was is not called an unknown start', () => {
  expect(judge([...slice(1, 8), ...slice(12, 20)], head(10)).reason).toContain('not among the entries');
});

test('where nobody knows what was exported before, even the beginning of a stream proves nothing', () => {
  const { state, reason, found } = judge(intact, { earlier: null });
  expect([state, found]).toEqual(['unproved', []]);
  expect(reason).toContain('is not known here');
});

/** Returns an accepted restart: earlier runs had this chain's entries up to these heads. */
function accepted(before: SentEntry[], ...heads: number[]): Restart {
  const earlier = heads.map((last) => {
    const hash = before[last - 1]?.hash ?? '';
    return run(1, last, { head: { sequence: last, hash }, previous_hash: GENESIS });
  });
  const sequence = Math.max(...heads);
  return {
    reason: 'new database',
    accepted_by: { user: 'ana', host: 'h' },
    accepted_at: '2026-10-02T00:00:00.000Z',
    head: { sequence, hash: before[sequence - 1]?.hash ?? '', run_id: '2026-09' },
    earlier,
  };
}
const RESTARTED =
  'a restart or an end after entry 10 of run 2026-09 was accepted on 2026-10-02T00:00:00.000Z by ana: new database';
const others = chainOf(20, { actor: 'm' });

test.each<[string, SentEntry[], Partial<ContinuityQuestion>, string, string[]]>([
  [
    'the stream began anew with fewer entries',
    slice(1, 4),
    { ...ALL, statement: statedAt(4), restarts: [accepted(others, 4, 10)] },
    `starts at the first entry of the stream; no export that was known when it was received had entries of it since ${RESTARTED}`,
    ['continuity/accepted 4', 'continuity/accepted-missing 5-10', 'continuity/accepted 10'],
  ],
  [
    'the stream began anew and was exported since',
    intact,
    { ...ALL, ...head(4), restarts: [accepted(others, 10)] },
    `contains entry 4, the head of run 2026-09, unchanged; ${RESTARTED}`,
    ['continuity/accepted 10', 'continuity/accepted 10'],
  ],
  [
    'two runs agree since then',
    intact,
    { ...ALL, ...earlier(run(1, 4), run(1, 6)), restarts: [accepted(others, 10)] },
    `contains entry 6, the head of run 2026-09, unchanged; ${RESTARTED}; it agrees with all 2 runs since that have some of its entries`,
    ['continuity/accepted 10', 'continuity/accepted 10'],
  ],
  [
    'nothing had changed',
    intact,
    { ...ALL, restarts: [accepted(intact, 10)] },
    `starts at the first entry of the stream; no export that was known when it was received had entries of it since ${RESTARTED}`,
    ['continuity/accepted 10'],
  ],
  [
    'a part of what is there now',
    slice(12, 20),
    { restarts: [accepted(others, 10)] },
    `the package starts at entry 12, and no export that was known when it was received had entries of it since ${RESTARTED}`,
    ['continuity/accepted 10', 'continuity/unknown-start 12'],
  ],
])('a restart that was accepted, where %s', (_words, entries, question, said, found) => {
  const claim = judge(entries, question);
  expect([claim.basis ?? claim.reason, claim.found, claim.errors]).toEqual([said, found, 0]);
});

test('of what was accepted, it is told whether it is there still', () => {
  const told = (before: SentEntry[]) => {
    const restarts = [accepted(before, 10)];
    const walk = walkOf(intact, [], restarts);
    const question = { walk, earlier: [], period: ALL_TIME, statement: NO_STATEMENT, unfetched: null, restarts };
    return judgeContinuity(question)
      .findings.list()
      .map(({ message }) => message);
  };
  expect(told(intact)).toEqual([`${RESTARTED}; entry 10 is there as it was exported`]);
  expect(told(others)).toEqual([RESTARTED, 'entry 10 is not the one that run 2026-09 exported; that was accepted']);
});

/** An earlier run without an entry of the stream. */
const EMPTY: Span = { ...run(1, 1), run_id: '2026-08', entries: null };

test.each<[string, SentEntry[], Partial<ContinuityQuestion>, RegExp]>([
  [
    'of a package that ends before what the service says it has',
    slice(1, 8),
    { ...head(10), ...ALL, statement: statedAt(10) },
    /^entries 9 to 10, which run 2026-09 exported, are not in the package$/,
  ],
  [
    'of a stream that ends earlier now',
    slice(1, 8),
    { ...head(10), ...ALL, statement: statedAt(8) },
    /^the stream now ends at entry 8; run 2026-09 exported it up to entry 10$/,
  ],
  [
    'of a start after a run without entries',
    slice(5, 8),
    earlier(EMPTY),
    /^the package starts at entry 5, and no earlier export that was known when it was received had entries of it$/,
  ],
  [
    'of a start after the last entry that is known',
    slice(12, 20),
    head(10),
    /^the package starts at entry 12, and entry 10 \(run 2026-09\) was the last before it that was known when it was received$/,
  ],
  [
    'of a start that nobody can know',
    slice(5, 8),
    {},
    /, and no earlier export of the stream was known when it was received$/,
  ],
])('what is said %s', (_words, entries, question, said) => {
  expect(judge(entries, question).reason).toMatch(said);
});
