import type { WalkResult } from '../chain/walk.ts';
import type { Restart, Span, Unfetched } from './schemas.ts';
import type { StreamStatement } from './statement.ts';

export interface ContinuityQuestion {
  /** Must have watched the entries that `lookOut` asks for. */
  walk: WalkResult;
  /** Spans of all earlier runs, oldest first; null if not known. */
  earlier: readonly Span[] | null;
  /** Period for which the package was requested: half-open, null for no bound. */
  period: Span['period'];
  /** Statement of the service's list of streams, read before the package was made and after the earlier runs ended. */
  statement: StreamStatement;
  /** Answer of the service about entries after the last exported one; null if it was not asked. */
  unfetched: Unfetched | null;
  /** Accepted restarts of the stream, oldest first. */
  restarts: readonly Restart[];
  /** Reasons why bundles of earlier runs could not be compared, by run id. */
  unread?: ReadonlyMap<string, string>;
}

/** Question with known earlier runs. */
export interface KnownPast extends ContinuityQuestion {
  earlier: readonly Span[];
}

export function entriesIn(from: number, to: number): string {
  return from === to ? `entry ${from}` : `entries ${from} to ${to}`;
}
