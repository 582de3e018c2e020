import { type Markup, type MarkupContent, markup } from '../../core/html/markup.ts';
import { utcTime } from './components.ts';

/** A page that refreshes itself where scripts run. */
export interface LiveView {
  /** Another one as soon as the page is another one: it is the ETag of the page, too. */
  mark: string;
  /** Said aloud when it is another sentence. */
  says: string;
  now: Date;
}

/** Times are told from now: with each minute a page is another one. @param version of what the page shows. */
export function liveMark(version: number, now: Date): string {
  return `${version}-${now.toISOString().slice(0, 16)}`;
}

/** The part of a page that its script reads anew. There is one on a page. */
export function liveRegion({ mark, says, now }: LiveView, content: MarkupContent): Markup {
  return markup`<div id="live" data-live="${mark}" data-says="${says}">
<p class="minor">As of ${utcTime(now.toISOString())}. <span id="live-note">Load the page again to see what came since.</span></p>
${content}</div>
<p class="heard" id="live-said" aria-live="polite"></p>
`;
}
