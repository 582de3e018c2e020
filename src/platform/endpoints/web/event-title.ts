import type { WireEvent } from '../requests/events.ts';
import { oneLine, pathLine } from './shown-path.ts';
import { EVENT_WORDS } from './words.ts';

/** What an event is of, and what is wrong with that. */
export function titleOf(event: WireEvent): string {
  const { word } = EVENT_WORDS[event.event_type];
  return `${isOfReports(event) ? oneLine(event.endpoint_name) : pathLine(event)}: ${word}`;
}

/** Whether it is of an endpoint's reports, and not of one of its paths. */
export function isOfReports({ path, path_base64 }: Pick<WireEvent, 'path' | 'path_base64'>): boolean {
  return path === null && path_base64 === null;
}
