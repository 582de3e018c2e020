import type { Section } from '../chain/content-hash.ts';
import type { WalkResult } from '../chain/walk.ts';
import { type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import { entriesIn, type KnownPast } from './continuity-question.ts';
import { type Range, without } from './ranges.ts';
import type { LateRange, Span, Unfetched } from './schemas.ts';
import { boundOf, newestHead } from './span.ts';
import type { Contradiction } from './statement.ts';

/**
 * Returns the number of the entry after which no export, this or an earlier one, has the next number: the last entry of
 * all exports, or of the earlier ones if this export begins after a gap. Null without entries.
 */
export function lastFetched(own: Section | null, earlier: readonly Span[]): number | null {
  const newest = newestHead(earlier)?.sequence;
  if (own === null || newest === undefined) return own?.last ?? newest ?? null;
  return newest + 1 < own.first ? newest : Math.max(own.last, newest);
}

/**
 * Finds entries that no export has and that are dated in a period that an earlier run exported after its end. If the
 * service did not list the missing entries, reports all of them.
 */
export function findLate(
  { streamId }: Pick<WalkResult, 'streamId'>,
  earlier: readonly Span[],
  unfetched: Unfetched | null,
): StreamFinding[] {
  if (unfetched !== null && unfetched.failure !== null) {
    const [from, to] = [unfetched.after + 1, unfetched.to];
    const message = `the list of streams states ${entriesIn(from, to)}, which no export has, and the service did not list ${from === to ? 'it' : 'them'}: ${unfetched.failure.reason}`;
    return [toStreamFinding('continuity/unfetched', streamId, message, { from, to })];
  }
  return placeLate(earlier, unfetched).map(({ range, run, isApart }) => {
    const { from, to, first_recorded_at: time } = range;
    const [are, have] = from === to ? ['is', 'has'] : ['are', 'have'];
    const had = run.entries === null ? 'without any entry' : `up to entry ${run.entries.head.sequence}`;
    const message = `${entriesIn(from, to)} ${are} dated ${time}, within the period that run ${run.run_id} exported ${had}, and no export ${have} ${from === to ? 'it' : 'them'}`;
    const finding = toStreamFinding('continuity/grown', streamId, message, { from, to, recordedAt: time });
    return { ...finding, advice: { code: isApart ? 'export_all_time' : 'export_missing' } };
  });
}

/** Late entries in the period of an earlier run. */
export interface PlacedLate {
  range: LateRange;
  run: Span;
  /** True if other entries that the run lacks lie before these: a revision of the run would have a gap. */
  isApart: boolean;
}

/** Finds the earlier run to which each range of late entries belongs; leaves out ranges without one. */
export function placeLate(earlier: readonly Span[], unfetched: Unfetched | null): PlacedLate[] {
  return (unfetched?.late ?? []).flatMap((range) => {
    const run = earlier.find((span) => !span.part && isOf(range, span));
    if (run === undefined) return [];
    return [{ range, run, isApart: run.entries !== null && run.entries.head.sequence + 1 !== range.from }];
  });
}

/**
 * Reports whether every entry of a gap is dated in the period of an earlier run, and so belongs to no package of
 * another period.
 */
export function isLate(gap: Range, { earlier, period, unfetched }: KnownPast): boolean {
  const late = placeLate(earlier, unfetched).flatMap(({ range }) => (isOf(range, { period }) ? [] : [range]));
  return without([gap], late).length === 0;
}

/** Returns the latest end of the exported periods; null if none has an end. */
export function newestEnd(periods: readonly Span['period'][]): string | null {
  const ends = periods.flatMap(({ to }) => (to === null ? [] : [to]));
  return ends.toSorted((a, b) => Date.parse(a) - Date.parse(b)).at(-1) ?? null;
}

/** Returns a contradiction if the list of streams states entries that the listing leaves out. */
export function whyHidden(unfetched: Unfetched | null): Contradiction | null {
  if (unfetched === null || unfetched.failure !== null || unfetched.next === unfetched.after + 1) return null;
  const { after, to, next } = unfetched;
  return {
    message: `the list of streams states entries up to ${to}, and the listing has ${next === null ? 'none' : `entry ${next} next`} after entry ${after}`,
    expected: String(after + 1),
    actual: next === null ? 'no entry' : String(next),
  };
}

/** Reports whether the range is dated in the period of a run, which must have an end. */
function isOf({ first_recorded_at, last_recorded_at }: LateRange, { period }: Pick<Span, 'period'>): boolean {
  const [from, to] = [boundOf(period.from, -Infinity), boundOf(period.to, Number.NaN)];
  return from <= Date.parse(last_recorded_at) && Date.parse(first_recorded_at) < to;
}
