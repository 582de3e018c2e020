import type { WalkResult } from '../chain/walk.ts';
import { type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import { entriesIn } from './continuity-question.ts';
import { boundOf, newestHead } from './span.ts';
import type { Span } from './span-schema.ts';
import type { Contradiction } from './statement.ts';
import type { LateRange, Unfetched } from './unfetched-schema.ts';

/** Number of the last entry that an export has, this one or an earlier one; null without entries. */
export function lastFetched({ head }: Pick<WalkResult, 'head'>, earlier: readonly Span[]): number | null {
  const numbers = [head?.sequence, newestHead(earlier)?.sequence].filter((one) => one !== undefined);
  return numbers.length === 0 ? null : Math.max(...numbers);
}

/**
 * Entries that no export has, and that are dated within a period that an earlier run exported after it had ended; or all
 * that no export has, where the service did not say how they are dated.
 */
export function findLate(
  { streamId }: Pick<WalkResult, 'streamId'>,
  earlier: readonly Span[],
  unfetched: Unfetched | null,
): StreamFinding[] {
  if (unfetched !== null && unfetched.failure !== null) {
    const [from, to] = [unfetched.after + 1, unfetched.to];
    const message = `the list of streams states ${entriesIn(from, to)}, which no export has, and the service did not list ${from === to ? 'it' : 'them'}: ${unfetched.failure}`;
    return [toStreamFinding('continuity/unfetched', streamId, message, { from, to })];
  }
  return (unfetched?.late ?? []).flatMap((range) => {
    const run = earlier.find((span) => !span.part && isOf(range, span));
    if (run === undefined) return [];
    const { from, to, first_recorded_at: time } = range;
    const [are, have] = from === to ? ['is', 'has'] : ['are', 'have'];
    const had = run.entries === null ? 'without any entry' : `up to entry ${run.entries.head.sequence}`;
    const message = `${entriesIn(from, to)} ${are} dated ${time}, within the period that run ${run.run_id} exported ${had}, and no export ${have} ${from === to ? 'it' : 'them'}`;
    const finding = toStreamFinding('continuity/grown', streamId, message, { from, to, recordedAt: time });
    return [{ ...finding, next_step: FETCH }];
  });
}

const FETCH =
  'Export them with: evidence export --missing. It makes a revision of each month that has more entries now. Then ask the operator of the service when these entries were recorded.';

/** Entries that the list of streams states, and that the listing leaves out. */
export function whyHidden(unfetched: Unfetched | null): Contradiction | null {
  if (unfetched === null || unfetched.failure !== null || unfetched.next === unfetched.after + 1) return null;
  const { after, to, next } = unfetched;
  return {
    message: `the list of streams states entries up to ${to}, and the listing has ${next === null ? 'none' : `entry ${next} next`} after entry ${after}`,
    expected: String(after + 1),
    actual: next === null ? 'no entry' : String(next),
  };
}

/** True if the range is dated within the period of a run that ended. */
function isOf({ first_recorded_at, last_recorded_at }: LateRange, { period }: Span): boolean {
  const [from, to] = [boundOf(period.from, -Infinity), boundOf(period.to, Number.NaN)];
  return from <= Date.parse(last_recorded_at) && Date.parse(first_recorded_at) < to;
}
