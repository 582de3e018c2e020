import { describe, expect, test } from 'vitest';
import { FindingLog } from '../../src/chain/finding.ts';
import type { WalkResult } from '../../src/chain/walk.ts';
import { type ContinuityQuestion, judgeContinuity } from '../../src/claims/continuity.ts';
import { bare, chainOf, packageOf, readPackage, type SentEntry, STREAM, sealed } from '../support/chain.ts';

const intact = chainOf(20);
const digestOf = (sequence: number) => intact[sequence - 1]?.hash ?? '';
const head = (sequence: number, digest = digestOf(sequence)) => ({ sequence, digest, runId: '2026-09' });
const slice = (from: number, to: number) => intact.slice(from - 1, to);

function walkOf(entries: SentEntry[], watch: number[] = []): WalkResult {
  return readPackage(packageOf(entries), { streamId: STREAM, watch }).walk;
}

function judge(entries: SentEntry[], more: Partial<ContinuityQuestion> = {}) {
  const log = new FindingLog();
  const walk = walkOf(entries, more.earlier == null ? [] : [more.earlier.sequence]);
  const claim = judgeContinuity(
    { walk, earlier: null, reachesNow: false, fromStart: false, statedHead: null, restart: null, ...more },
    log,
  );
  return { ...claim, found: bare(log.list()), errors: log.errors('continuity') };
}

const NOW = { reachesNow: true };
const ALL = { reachesNow: true, fromStart: true };
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
  ['it contains the head', intact, { earlier: head(10) }, 'proved', []],
  ['it ends with the head', slice(1, 10), { earlier: head(10), ...NOW }, 'proved', []],
  ['it begins with the head', slice(10, 20), { earlier: head(10) }, 'proved', []],
  ['it follows the head', slice(11, 20), { earlier: head(10) }, 'proved', []],
  [
    'another entry in the place of the head',
    intact,
    { earlier: head(10, digestOf(9)) },
    'refuted',
    ['continuity/rewritten 10'],
  ],
  [
    'it follows another head',
    slice(11, 20),
    { earlier: head(10, digestOf(9)) },
    'refuted',
    ['continuity/rewritten 10'],
  ],
  ['it begins too late', slice(12, 20), { earlier: head(10) }, 'unproved', ['continuity/unknown-start 12']],
  ['an earlier period', slice(1, 5), { earlier: head(10) }, 'unproved', []],
  [
    'it should reach now and ends early',
    slice(1, 5),
    { earlier: head(10), ...NOW },
    'refuted',
    ['continuity/truncated 6-10'],
  ],
  [
    'an earlier period, and the stream is shorter',
    slice(1, 5),
    { earlier: head(10), statedHead: 7 },
    'refuted',
    ['continuity/truncated 8-10'],
  ],
  ['an earlier period, and the stream is longer', slice(1, 5), { earlier: head(10), statedHead: 20 }, 'unproved', []],
  ['one short', slice(1, 9), { earlier: head(10), ...NOW }, 'refuted', ['continuity/truncated 10-10']],
  ['the head in a hole', [...slice(1, 8), ...slice(12, 20)], { earlier: head(10) }, 'unproved', []],
  ['nothing, no earlier head', [], ALL, 'unproved', []],
  ['nothing in the period', [], { earlier: head(10), ...NOW }, 'unproved', []],
  ['nothing in a period that ended', [], { earlier: head(10), fromStart: true }, 'unproved', []],
  ['nothing at all any more', [], { earlier: head(10), ...ALL }, 'refuted', ['continuity/truncated 1-10']],
  [
    'nothing in the period, and the stream is shorter',
    [],
    { earlier: head(10), statedHead: 7 },
    'refuted',
    ['continuity/truncated 8-10'],
  ],
  ['nothing in the period, and the stream is as long', [], { earlier: head(10), statedHead: 10 }, 'unproved', []],
];

describe('the history that earlier exports saw', () => {
  test.each(TABLE)('%s', (_words, entries, question, state, found) => {
    const claim = judge(entries, question);
    expect([claim.state, claim.found]).toEqual([state, found]);
    expect(claim.errors).toBe(state === 'refuted' ? 1 : 0);
    expect(state === 'proved' ? claim.basis : claim.reason).toMatch(/./);
  });
});

test('what is stated of the head is what counts, edited or not: content has its own claim', () => {
  const edited = intact.with(9, { ...(intact[9] as SentEntry), actor: 'm' });
  expect(judge(edited, { earlier: head(10) }).state).toBe('proved');
});

test('the finding names both digests', () => {
  const log = new FindingLog();
  judgeContinuity(
    {
      walk: walkOf(intact, [10]),
      earlier: head(10, 'ab'),
      reachesNow: true,
      fromStart: true,
      statedHead: null,
      restart: null,
    },
    log,
  );
  expect(log.list()).toMatchObject([
    { expected: 'ab', actual: digestOf(10), message: expect.stringContaining('2026-09') },
  ]);
});

test('a hole where the head was is not called an unknown start', () => {
  expect(judge([...slice(1, 8), ...slice(12, 20)], { earlier: head(10) }).reason).toContain('not among the entries');
});

test('an accepted restart is the basis of a new start', () => {
  expect(judge(intact, { restart: 'its restart was accepted' }).basis).toContain('its restart was accepted');
});
