import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { plural } from '../../../core/plurals.ts';
import { isKnown, sendKnown } from '../../http/etag.ts';
import { queryOf } from '../../web/asked.ts';
import { emptyState, further, link } from '../../web/components.ts';
import { hidden } from '../../web/fields.ts';
import { filterField, filterForm, filterSelect, filtersOf } from '../../web/filters.ts';
import { formTime, toFormTime } from '../../web/form-time.ts';
import { liveMark, liveRegion } from '../../web/live.ts';
import { withQuery } from '../../web/own-path.ts';
import { LIST_ROWS, SHORT_ROWS } from '../../web/rows.ts';
import { EVENT_SEVERITIES, EVENT_STATUSES, EVENT_TYPES } from '../enums.ts';
import type { EndpointService } from '../service.ts';
import { eventQuerySchema } from '../wire/events.ts';
import type { EndpointStats } from '../wire/reports.ts';
import { eventTable } from './event-table.ts';
import { countWords, EVENT_STATUS_WORDS, EVENT_WORDS } from './labels.ts';
import { type EndpointPageParts, SEES_ENDPOINTS } from './parts.ts';
import { ABOVE_ENDPOINTS, CHANGES_PATH, ENDPOINTS_PATH, EVENTS_PATH, endpointsApi, hostPath } from './paths.ts';

const filterSchema = filtersOf(eventQuerySchema.omit({ limit: true }).extend({ since: formTime.optional() }));
type Filter = z.output<typeof filterSchema>;

/** Serves the list of events on endpoints. The page refreshes itself if scripts run. */
export function eventsPage(server: FastifyInstance, { service, clock }: EndpointPageParts): void {
  const options = { config: SEES_ENDPOINTS, schema: { hide: true, querystring: filterSchema } } as const;
  server.get('/endpoints/events', options, async (request, reply) => {
    const filter = queryOf<Filter>(request);
    const now = clock();
    const mark = liveMark(await service.events.currentVersion(), now);
    if (isKnown(reply, mark)) return sendKnown(reply);
    const stats = await service.stats();
    const { cursor: _, ...asked } = filter;
    return reply.page({
      title: 'Events',
      above: ABOVE_ENDPOINTS,
      introduction:
        'Each event is about one path on one endpoint, or about the reports of an endpoint. An event is resolved automatically when its path matches the baseline again.',
      content: [
        markup`<p>Equal events on many endpoints form one change: ${link(CHANGES_PATH, 'View by change')}.</p>\n`,
        filters(filter),
        liveRegion({ mark, says: sayOf(stats), now }, [countsOf(stats), await lists(service, filter, now)]),
      ],
      api: { path: withQuery(endpointsApi('events', ''), asked) },
    });
  });
}

function filters(filter: Filter): Markup {
  const { endpoint_id, change_id, window_id, event_type, severity, status, since, path } = filter;
  const kept = Object.entries({ endpoint_id, change_id, window_id }).map(([name, value]) =>
    value === undefined ? null : hidden(name, value),
  );
  const { cursor: _, ...given } = filter;
  return filterForm(EVENTS_PATH, given, [
    filterSelect({ event_type }, ['event_type', 'What'], EVENT_TYPES, (value) => EVENT_WORDS[value].word),
    filterSelect({ severity }, ['severity', 'Severity'], EVENT_SEVERITIES),
    filterSelect({ status }, ['status', 'Status'], EVENT_STATUSES, (value) => EVENT_STATUS_WORDS[value]),
    filterField({ name: 'path', label: 'Path', value: path }),
    filterField({ name: 'since', label: 'Seen since (UTC)', value: toFormTime(since ?? '') }, 'time'),
    kept,
  ]);
}

function openIn({ open_events }: EndpointStats): number {
  return Object.values(open_events).reduce((sum, count) => sum + count, 0);
}

function sayOf(stats: EndpointStats): string {
  const open = openIn(stats);
  return open === 0 ? 'No events are open.' : `${plural(open, 'event')} open.`;
}

function countsOf(stats: EndpointStats): Markup | null {
  const counts = countWords(stats.open_events);
  return counts === null
    ? null
    : markup`<div><p>${plural(openIn(stats), 'open event')} on all endpoints:</p>${counts}</div>\n`;
}

async function lists(service: EndpointService, filter: Filter, now: Date): Promise<Markup> {
  const { cursor, ...asked } = filter;
  if (Object.values(asked).every((value) => value === undefined)) return openAndSeen(service, cursor, now);
  const { data, next_cursor } = await service.events.list({ ...filter, limit: LIST_ROWS });
  const empty = emptyState('No events match.');
  const of = asked.endpoint_id === undefined ? 'all' : 'host';
  const hasStatus = asked.status === undefined;
  const table = eventTable(data, { caption: 'Events', empty, of, hasStatus, now });
  return markup`${await ofOne(service, filter)}${table}${further(EVENTS_PATH, filter, next_cursor)}`;
}

async function ofOne({ hosts }: EndpointService, { endpoint_id }: Filter): Promise<Markup | null> {
  if (endpoint_id === undefined) return null;
  const { name } = await hosts.find(endpoint_id);
  return markup`<p>Only events of ${link(hostPath(endpoint_id), name)}.</p>\n`;
}

/** Renders the page without a filter: open events, followed by the last acknowledged ones. */
async function openAndSeen({ events }: EndpointService, cursor: string | undefined, now: Date): Promise<Markup> {
  const open = await events.list({ status: 'open', cursor, limit: LIST_ROWS });
  const seen = await events.list({ status: 'acknowledged', limit: SHORT_ROWS });
  const all = (status: string, words: string) => link(withQuery(EVENTS_PATH, { status }), words);
  const empty = emptyState(markup`No events are open. ${link(ENDPOINTS_PATH, 'Check that the endpoints report')}.`);
  const none = emptyState('No events are acknowledged.');
  return markup`<h2>Open</h2>
${eventTable(open.data, { caption: 'Open events', empty, of: 'all', now })}${further(EVENTS_PATH, { status: 'open' }, open.next_cursor)}<h2>Acknowledged</h2>
${eventTable(seen.data, { caption: 'Acknowledged events', empty: none, of: 'all', now })}<p class="further">${all('acknowledged', 'All acknowledged events')} · ${all('quieted', 'All quieted events')} · ${all('resolved', 'All resolved events')}</p>
`;
}
