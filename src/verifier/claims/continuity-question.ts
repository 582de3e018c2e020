import type { WalkResult } from '../chain/walk.ts';
import type { Span } from './span-schema.ts';

export interface ContinuityQuestion {
  /** Must have been told what the earlier runs saw, see `comparedWith`. */
  walk: WalkResult;
  /** What every earlier run saw of the stream, the oldest first; null where that is not known. */
  earlier: readonly Span[] | null;
  /** What the package was asked to hold; half-open, null for no bound. */
  period: Span['period'];
  /** The head's sequence number as the service's list of streams states it, before the package was made. */
  statedHead: number | null;
  /** The acceptance of the stream's restart, as a sentence, when the ledger has one. */
  restart: string | null;
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
