import { type Markup, type MarkupContent, markup } from '../../core/html/markup.ts';
import { utcTime } from './components.ts';

/** Page that refreshes itself if scripts run. */
export interface LiveView {
  /** Version of the page, which is also its ETag. */
  mark: string;
  /** Sentence that screen readers announce when it changes. */
  says: string;
  now: Date;
}

/**
 * Returns the version of a page, which changes every minute, because times are shown relative to now. @param version of
 * the content.
 */
export function liveMark(version: number, now: Date): string {
  return `${version}-${now.toISOString().slice(0, 16)}`;
}

/** Renders the part of a page that its script refreshes, of which a page has at most one. */
export function liveRegion({ mark, says, now }: LiveView, content: MarkupContent): Markup {
  return markup`<div id="live" data-live="${mark}" data-says="${says}">
<p class="minor">As of ${utcTime(now.toISOString())}. <span id="live-note">Reload the page to see changes.</span></p>
${content}</div>
<p class="heard" id="live-said" aria-live="polite"></p>
`;
}
