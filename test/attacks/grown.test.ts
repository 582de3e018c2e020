import { describe, expect, test } from 'vitest';
import { datedBehind } from '../../src/verifier/claims/grown.ts';
import { comparedWith } from '../../src/verifier/claims/past.ts';
import type { Span } from '../../src/verifier/claims/schemas.ts';
import { chainOf, entryAfter, examineReading, packageOf, readPackage, type SentEntry } from '../support/chain.ts';

/** Entries dated in a period that was exported after it had ended. */

const AUGUST = { from: '2026-08-01T00:00:00.000Z', to: '2026-09-01T00:00:00.000Z' };
const ALL_TIME = { from: null, to: null };

/** Builds thirty entries in August, then one at each of these times. */
function grownAt(...times: string[]): SentEntry[] {
  const entries: SentEntry[] = [];
  for (let day = 1; day <= 30; day++)
    entries.push(at(entries, `2026-08-${String(day).padStart(2, '0')}T12:00:00.000Z`));
  for (const time of times) entries.push(at(entries, time));
  return entries;
}

function at(entries: readonly SentEntry[], timestamp: string): SentEntry {
  return entryAfter(entries.at(-1) ?? null, { timestamp });
}

/** Span that a run recorded of the first entries; none for an empty span. */
function spanOf(run_id: string, entries: readonly SentEntry[], last: number, period: Span['period'] = AUGUST): Span {
  const [first, head] = [entries[0], entries[last - 1]];
  if (first === undefined || head === undefined) return { run_id, period, part: false, entries: null };
  const seen = {
    first_sequence: first.sequence,
    head: { sequence: head.sequence, hash: head.hash },
    previous_hash: first.prev_hash,
    first_recorded_at: first.timestamp,
    last_recorded_at: head.timestamp,
    digests_bind: true,
    entries_sha256: null,
    agrees: true,
  };
  return { run_id, period, part: false, entries: seen };
}

const LATE = '2026-08-30T13:00:00.000Z';
const SHORTLY_BEFORE = '2026-08-31T23:59:58.000Z';
const SEPTEMBER = { from: '2026-09-01T00:00:00.000Z', to: '2026-10-01T00:00:00.000Z' };
const SEPTEMBER_15 = '2026-09-15T00:00:00.000Z';
const OCTOBER = { from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' };
const OCTOBER_15 = '2026-10-15T00:00:00.000Z';
const AFTER = '2026-09-02T00:00:00.000Z';

interface Row {
  times: string[];
  earlier: (entries: readonly SentEntry[]) => Span[];
  period?: Span['period'];
  state: string;
  at: number[];
}

const ROWS: Record<string, Row> = {
  'entries after the head of the period': {
    times: [LATE, LATE],
    earlier: (all) => [spanOf('8', all, 30)],
    period: AUGUST,
    state: 'unproved',
    at: [31],
  },
  'the same, in an export of all time': {
    times: [LATE, AFTER],
    earlier: (all) => [spanOf('8', all, 30)],
    state: 'unproved',
    at: [31],
  },
  'a period that had none': {
    times: [],
    earlier: (all) => [spanOf('8', all, 0)],
    period: AUGUST,
    state: 'unproved',
    at: [1],
  },
  'a period that had none, after entries of the time before': {
    times: [SEPTEMBER_15, SEPTEMBER_15],
    earlier: (all) => [spanOf('8', all, 30), spanOf('9', all, 0, SEPTEMBER)],
    state: 'unproved',
    at: [31],
  },
  'a period that had none, after time that was not exported': {
    times: [AFTER, OCTOBER_15],
    earlier: (all) => [spanOf('8', all, 30), spanOf('10', all, 0, OCTOBER)],
    state: 'unproved',
    at: [32],
  },
  'of which a run between has only some': {
    times: [LATE, LATE],
    earlier: (all) => [spanOf('8', all, 30), spanOf('all', all, 31, ALL_TIME)],
    state: 'unproved',
    at: [32],
  },
  'that another export of the very period has now, though a run between has told': {
    times: [LATE],
    earlier: (all) => [spanOf('8', all, 30), spanOf('all', all, 31, ALL_TIME)],
    period: AUGUST,
    state: 'unproved',
    at: [31],
  },
  'that the second export of the period had': {
    times: [LATE],
    earlier: (all) => [spanOf('8', all, 30), spanOf('8.r2', all, 31)],
    period: AUGUST,
    state: 'proved',
    at: [],
  },
  'of which a run between has told': {
    times: [LATE, AFTER],
    earlier: (all) => [spanOf('8', all, 30), spanOf('8-revised', all, 31)],
    state: 'proved',
    at: [],
  },
  'that were recorded at the very end': {
    times: [SHORTLY_BEFORE],
    earlier: (all) => [spanOf('8', all, 30)],
    period: AUGUST,
    state: 'proved',
    at: [],
  },
  'of the time after it': { times: [AFTER], earlier: (all) => [spanOf('8', all, 30)], state: 'proved', at: [] },
  'after an export that had no end': {
    times: [LATE],
    earlier: (all) => [spanOf('8', all, 30, ALL_TIME)],
    state: 'proved',
    at: [],
  },
};

describe('entries of a period that was exported before', () => {
  test.each(Object.entries(ROWS))('%s', (_words, { times, earlier, period = ALL_TIME, state, at: places }) => {
    const entries = grownAt(...times);
    const spans = earlier(entries);
    const options = { compared: comparedWith(spans), dated: datedBehind(spans, period) };
    const reading = readPackage(packageOf(entries), options);
    const { claims, findings } = examineReading(reading, [], { earlier: spans, period });
    const grown = findings.filter(({ code }) => code === 'continuity/grown');
    expect(claims.continuity.state).toBe(state);
    expect(grown.map(({ sequence, severity }) => [sequence, severity])).toEqual(places.map((one) => [one, 'warning']));
  });

  test('without times nothing is said', () => {
    const entries = chainOf(12, { timestamp: '' });
    const spans = [spanOf('8', entries, 10)].map((span) => span);
    const reading = readPackage(packageOf(entries), { dated: datedBehind(spans, AUGUST) });
    expect(
      examineReading(reading, [], { earlier: spans, period: AUGUST }).findings.map(({ code }) => code),
    ).not.toContain('continuity/grown');
  });
});
