import type { WireEvent } from '../wire/events.ts';
import { EVENT_WORDS } from './labels.ts';
import { oneLine, pathLine } from './shown-path.ts';

/** Returns the subject and the finding of an event. */
export function titleOf(event: WireEvent): string {
  const { word } = EVENT_WORDS[event.event_type];
  return `${isOfReports(event) ? oneLine(event.endpoint_name) : pathLine(event)}: ${word}`;
}

/** Reports whether an event is about an endpoint's reports, and not about a path. */
export function isOfReports({ path, path_base64 }: Pick<WireEvent, 'path' | 'path_base64'>): boolean {
  return path === null && path_base64 === null;
}
