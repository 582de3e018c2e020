import type { WireEvent } from '../wire/events.ts';
import { EVENT_WORDS } from './labels.ts';
import { oneLine, pathLine } from './shown-path.ts';

/** The subject of an event, and its fault. */
export function titleOf(event: WireEvent): string {
  const { word } = EVENT_WORDS[event.event_type];
  return `${isOfReports(event) ? oneLine(event.endpoint_name) : pathLine(event)}: ${word}`;
}

/** True if it is about an endpoint's reports, and not about a path. */
export function isOfReports({ path, path_base64 }: Pick<WireEvent, 'path' | 'path_base64'>): boolean {
  return path === null && path_base64 === null;
}
