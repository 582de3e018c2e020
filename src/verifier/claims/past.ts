import type { ComparedSection } from '../chain/walk.ts';
import { datedBehind } from './grown.ts';
import type { Span, StreamPast } from './schemas.ts';
import { isPlaced } from './span.ts';

/** Returns what a reader of a package has to watch of the entries that earlier runs had. */
export function comparedWith(earlier: readonly Span[]): ComparedSection[] {
  return earlier.filter(isPlaced).map(({ entries }) => ({
    first: entries.first_sequence,
    last: entries.head.sequence,
    byContent: entries.entries_sha256 !== null,
  }));
}

/**
 * Returns the questions that a reader of a package has to answer, so that its continuity can be judged.
 * @param pastOf a stream.
 * @param period what the package was asked to hold.
 * @param watch other numbers to be watched.
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
