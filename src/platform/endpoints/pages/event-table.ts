import { type Markup, markup } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { severityWord } from '../../alerts/api.ts';
import { type DataColumn, dataTable, link, moment } from '../../web/components.ts';
import type { WireEvent } from '../wire/events.ts';
import { isOfReports } from './event-title.ts';
import { explanationWord } from './explanation.ts';
import { EVENT_WORDS, eventStatusWord } from './labels.ts';
import { eventPath, hostPath } from './paths.ts';
import { notUtf8, pathLine } from './shown-path.ts';

interface EventTable {
  caption: string;
  empty: Markup;
  /** Subject that all rows share, so that none repeats it: their endpoint, or their change. */
  of: 'all' | 'host' | 'change';
  /** True if the rows differ in status. */
  hasStatus?: boolean;
  now: Date;
}

/** Renders events as rows. */
export function eventTable(events: readonly WireEvent[], { caption, empty, of, hasStatus, now }: EventTable): Markup {
  const what: DataColumn<WireEvent>[] = [
    { head: 'What', kind: 'name', cell: whatCell },
    ...(of === 'host' ? [] : [hostColumn(of === 'change')]),
  ];
  return dataTable({
    caption,
    columns: [
      ...(of === 'change' ? [hostColumn(true)] : what),
      ...(hasStatus === true ? [{ head: 'Status', cell: (each: WireEvent) => eventStatusWord(each.status) }] : []),
      { head: 'Severity', cell: ({ severity }) => severityWord(severity) },
      ...(of === 'change' ? [] : [{ head: 'Explanation', cell: (each: WireEvent) => explanationWord(each) }]),
      { head: 'First seen', cell: ({ first_seen }) => moment(first_seen, now) },
      { head: 'Last seen', cell: ({ last_seen }) => moment(last_seen, now) },
      { head: 'Times', kind: 'number', cell: ({ occurrences }) => grouped(occurrences) },
    ],
    rows: events,
    empty,
  });
}

/** @param leadsToEvent true if this is the first column. */
function hostColumn(leadsToEvent: boolean): DataColumn<WireEvent> {
  const path = ({ event_id, endpoint_id }: WireEvent) => (leadsToEvent ? eventPath(event_id) : hostPath(endpoint_id));
  const column = { head: 'Endpoint', cell: (event: WireEvent) => link(path(event), event.endpoint_name) };
  return leadsToEvent ? { ...column, kind: 'name' } : column;
}

function whatCell(event: WireEvent): Markup {
  const { event_id, event_type } = event;
  const { word } = EVENT_WORDS[event_type];
  if (isOfReports(event)) return link(eventPath(event_id), word);
  return markup`${link(eventPath(event_id), pathLine(event))} <span class="minor">${word}</span>${notUtf8(event)}`;
}
