import type { DatedQuestion } from '../chain/dated.ts';
import type { WalkResult } from '../chain/walk.ts';
import { type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import { type Range, union } from './ranges.ts';
import type { Span } from './schemas.ts';
import { boundOf, isPlaced, isSamePeriod } from './span.ts';

/**
 * Maximum delay between an entry's time and its recording, in milliseconds. An entry dated this shortly before the end
 * of a period may be recorded after an export that began at that end: it waits to be written, or the service's clock is
 * slow.
 */
export const LATENESS = 10 * 60_000;

/**
 * Returns searches for entries that were added late: dated in a period that an earlier run exported after its end, but
 * later in the stream than that run's last entry. Entries that another run has are left out, because that run reported
 * them; a package of the very same period leaves out only those that other exports of that period have.
 *
 * @param period requested period of the package.
 */
export function datedBehind(earlier: readonly Span[], period: Span['period']): DatedQuestion[] {
  const whole = earlier.filter(({ part }) => !part);
  return whole.flatMap((span) => {
    const { run_id: name, entries } = span;
    const [from, to] = [boundOf(span.period.from, -Infinity), boundOf(span.period.to, Number.NaN) - LATENESS];
    if (Number.isNaN(to)) return [];
    const others = isSamePeriod(span.period, period)
      ? whole.filter((other) => isSamePeriod(other.period, period))
      : whole;
    const had: Range[] = entries === null ? [] : [{ from: 0, to: entries.head.sequence }];
    const told = others
      .filter(isPlaced)
      .map((other) => ({ from: other.entries.first_sequence, to: other.entries.head.sequence }));
    return [{ name, from, to, known: union([...had, ...told]) }];
  });
}

/**
 * Finds entries added to a period after it had ended and been exported; each entry is reported for the first run
 * without it.
 */
export function findGrown({ streamId, dated }: WalkResult, earlier: readonly Span[]): StreamFinding[] {
  const found = new Map<number, StreamFinding>();
  for (const { run_id, entries } of earlier.filter(({ part }) => !part)) {
    const entry = dated.get(run_id);
    if (entry === undefined || found.has(entry.sequence)) continue;
    const { sequence, time } = entry;
    const had = entries === null ? 'without any entry' : `up to entry ${entries.head.sequence}`;
    const recordedAt = new Date(time).toISOString();
    const message = `entry ${sequence} is dated ${recordedAt}, within the period that run ${run_id} exported ${had} after it had ended`;
    found.set(sequence, toStreamFinding('continuity/grown', streamId, message, { sequence, recordedAt }));
  }
  return [...found.values()];
}
