import type { MarkupContent } from '../../core/html/markup.ts';
import type { Scope } from '../scopes.ts';
import type { StatusTone, TileView } from './components.ts';

/** Something that happened, on the time line of the front page. */
export interface TimelineEvent {
  /** RFC 3339 UTC. */
  at: string;
  tone: StatusTone;
  words: MarkupContent;
}

/** A service's part of the front page, for people who have the scope. */
export interface ModuleOverview {
  scope: Scope;
  read(signal: AbortSignal): Promise<OverviewOfModule>;
}

export interface OverviewOfModule {
  /** The state: if anything is wrong, since when, when it was last checked, what to do next; null for no tile. */
  tile: TileView | null;
  /** The latest events, in any order. */
  events: readonly TimelineEvent[];
}
