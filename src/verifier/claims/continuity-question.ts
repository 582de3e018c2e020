import type { WalkResult } from '../chain/walk.ts';
import type { Restart, Span, Unfetched } from './schemas.ts';
import type { StreamStatement } from './statement.ts';

export interface ContinuityQuestion {
  /** Must have been told what the earlier runs saw, see `lookOut`. */
  walk: WalkResult;
  /** Spans of all earlier runs, the oldest first; null where they are not known. */
  earlier: readonly Span[] | null;
  /** The period that the package was asked for; half-open, null for no bound. */
  period: Span['period'];
  /** The stream as the service's list states it, read before the package was made and after the earlier runs ended. */
  statement: StreamStatement;
  /** Entries that the service listed after the last one that any export has; null where it was not asked. */
  unfetched: Unfetched | null;
  /** Restarts of the stream that were accepted, the oldest first. */
  restarts: readonly Restart[];
  /** Reasons that bundles of earlier runs could not be compared, by run id. */
  unread?: ReadonlyMap<string, string>;
}

/** A question whose past is known. */
export interface KnownPast extends ContinuityQuestion {
  earlier: readonly Span[];
}

export function entriesIn(from: number, to: number): string {
  return from === to ? `entry ${from}` : `entries ${from} to ${to}`;
}
