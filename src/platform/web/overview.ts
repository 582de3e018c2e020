import type { MarkupContent } from '../../core/html/markup.ts';
import type { Scope } from '../scopes.ts';
import type { StatusTone, TileView } from './components.ts';

/** Event on the timeline of the front page. */
export interface TimelineEvent {
  /** RFC 3339 UTC time. */
  at: string;
  tone: StatusTone;
  words: MarkupContent;
}

/** Part of a service on the front page, for people with the scope. */
export interface ModuleOverview {
  scope: Scope;
  read(signal: AbortSignal): Promise<OverviewOfModule>;
}

export interface OverviewOfModule {
  /** State: whether anything is wrong, since when, the last check, and the next step; null for no tile. */
  tile: TileView | null;
  /** Latest events, in any order. */
  events: readonly TimelineEvent[];
}
