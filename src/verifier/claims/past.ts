import type { ComparedSection } from '../chain/walk.ts';
import { datedBehind } from './grown.ts';
import type { Span, StreamPast } from './schemas.ts';
import { isPlaced } from './span.ts';

/** Returns the sections of earlier runs that a reader of a package must watch. */
export function comparedWith(earlier: readonly Span[]): ComparedSection[] {
  return earlier.filter(isPlaced).map(({ entries }) => ({
    first: entries.first_sequence,
    last: entries.head.sequence,
    byContent: entries.entries_sha256 !== null,
  }));
}

/**
 * Returns the questions that a reader of a package must answer so that continuity can be judged.
 * @param pastOf returns the past of a stream.
 * @param period requested period of the package.
 * @param watch returns other sequence numbers to watch.
 */
export function lookOut(
  pastOf: (streamId: string) => StreamPast,
  period: Span['period'],
  watch: (streamId: string) => readonly number[],
) {
  return {
    watch: (streamId: string) => [
      ...watch(streamId),
      ...pastOf(streamId).restarts.flatMap(({ earlier }) => endsOf(earlier)),
    ],
    compared: (streamId: string) => comparedWith(pastOf(streamId).earlier),
    dated: (streamId: string) => datedBehind(pastOf(streamId).earlier, period),
  };
}

function endsOf(earlier: readonly Span[]): number[] {
  return comparedWith(earlier).flatMap(({ first, last }) => [first - 1, last]);
}
