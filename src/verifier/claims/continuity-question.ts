import type { WalkResult } from '../chain/walk.ts';
import type { Restart, Span } from './span-schema.ts';
import type { StreamStatement } from './statement.ts';
import type { Unfetched } from './unfetched-schema.ts';

export interface ContinuityQuestion {
  /** Must have been told what the earlier runs saw, see `lookOut`. */
  walk: WalkResult;
  /** What every earlier run saw of the stream, the oldest first; null where that is not known. */
  earlier: readonly Span[] | null;
  /** What the package was asked to hold; half-open, null for no bound. */
  period: Span['period'];
  /** What the service's list of streams states, read before the package was made and after the earlier runs ended. */
  statement: StreamStatement;
  /** What the service listed after the last entry that any export has; null where it was not asked. */
  unfetched: Unfetched | null;
  /** What was accepted of the stream, the oldest first. */
  restarts: readonly Restart[];
  /** Why the bundle of an earlier run could not be compared, by run id. */
  unread?: ReadonlyMap<string, string>;
}

/** Where the past is known. */
export interface KnownPast extends ContinuityQuestion {
  earlier: readonly Span[];
}

export function entriesIn(from: number, to: number): string {
  return from === to ? `entry ${from}` : `entries ${from} to ${to}`;
}
