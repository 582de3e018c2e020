import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, type MarkupContent, markup } from '../../../core/html/markup.ts';
import { grouped, plural } from '../../../core/plurals.ts';
import { type NameActor, namesOfActors } from '../../accounts/api.ts';
import { serveOperationList } from '../../operations/list.ts';
import { serveOperationPage } from '../../operations/page.ts';
import { forWhoMay } from '../../web/asked.ts';
import {
  action,
  copyable,
  dataTable,
  emptyState,
  factList,
  further,
  link,
  moment,
  momentOr,
} from '../../web/components.ts';
import { curlCommand } from '../../web/curl.ts';
import { cursorSchema } from '../../web/page.ts';
import { LIST_ROWS, SHORT_ROWS } from '../../web/rows.ts';
import { actsFor } from '../../web/sections.ts';
import { changeOperations } from '../operations/changes.ts';
import type { EndpointService } from '../service.ts';
import type { WireWindow } from '../wire/events.ts';
import { eventTable } from './event-table.ts';
import { byWhom, decisionFacts, windowStatusWord } from './labels.ts';
import type { EndpointPageParts } from './parts.ts';
import {
  ABOVE_ENDPOINTS,
  ABOVE_WINDOWS,
  ENDPOINTS_API,
  endpointsApi,
  hostPath,
  WINDOWS_PATH,
  windowPath,
} from './paths.ts';

/** Pages of change windows, and of one of them. */
export function windowPages(server: FastifyInstance, parts: EndpointPageParts): void {
  listPage(server, parts);
  onePage(server, parts);
}

function listPage(server: FastifyInstance, { service, clock }: EndpointPageParts): void {
  serveOperationList(server, changeOperations(service).listChangeWindows, {
    path: '/endpoints/change-windows',
    api: ENDPOINTS_API,
    head: () => ({
      title: 'Change windows',
      above: ABOVE_ENDPOINTS,
      introduction:
        'Periods in which changes are expected. Changes found during a window raise no alerts, but are listed under the window.',
    }),
    before: (request) =>
      forWhoMay(
        request,
        'endpoints:write',
        () => markup`<p>${action(`${WINDOWS_PATH}/new`, 'Open a change window')}</p>\n`,
      ),
    table: (windows, { request }) => windowTable(windows, firstWindow(request), clock()),
  });
}

function firstWindow(request: FastifyRequest): Markup {
  const body = { all: true, until: '2026-12-01T18:00:00Z', reason: 'December upgrade' };
  const command = curlCommand(request, { method: 'POST', path: endpointsApi('change-windows', ''), body });
  const text = 'No change windows yet. Open one before an upgrade, here or with the API:';
  return emptyState(text, copyable('first-window', 'Open a change window, as an API call', command));
}

function windowTable(windows: readonly WireWindow[], empty: Markup, now: Date): Markup {
  return dataTable({
    caption: 'Change windows',
    columns: [
      { head: 'Reason', kind: 'name', cell: ({ window_id, reason }) => link(windowPath(window_id), reason) },
      { head: 'Status', cell: ({ status }) => windowStatusWord(status) },
      { head: 'Endpoints', kind: 'short', cell: ofWords },
      { head: 'From', cell: ({ from }) => moment(from, now) },
      { head: 'Until', cell: ({ until }) => moment(until, now) },
      { head: 'Approved', cell: ({ approved_at }) => momentOr(approved_at, now, 'no') },
      { head: 'Quieted', kind: 'number', cell: ({ events }) => grouped(events) },
    ],
    rows: windows,
    empty,
  });
}

function ofWords({ all, endpoint_ids }: WireWindow): string {
  return all ? 'all' : plural(endpoint_ids.length, 'endpoint');
}

function onePage(server: FastifyInstance, { service, people, clock }: EndpointPageParts): void {
  serveOperationPage(server, changeOperations(service).getChangeWindow, {
    path: '/endpoints/change-windows/:window_id',
    api: ENDPOINTS_API,
    query: cursorSchema,
    async view(window, { request, params: { window_id }, query: { cursor } }) {
      const { data, next_cursor } = await service.events.list({ window_id, cursor, limit: LIST_ROWS });
      const nameActor = await namesOfActors(people, [window.made_by, window.approved_by]);
      const now = clock();
      const empty = emptyState('It has quieted no events so far.');
      return {
        title: window.reason,
        above: ABOVE_WINDOWS,
        introduction: 'Changes found on its endpoints during this window raised no alerts. All are listed here.',
        content: [
          facts(window, await endpointLinks(service, window), nameActor, now),
          acts(window, request),
          markup`<h2>Quieted events</h2>\n`,
          eventTable(data, { caption: 'Quieted events', empty, of: 'all', hasStatus: true, now }),
          further(windowPath(window_id), { cursor }, next_cursor),
        ],
      };
    },
  });
}

function facts(window: WireWindow, endpoints: MarkupContent, call: NameActor, now: Date): Markup {
  const { status, from, until, made_by, made_at, approved_by, approved_at, approved_reason, events } = window;
  const approved = decisionFacts('Approved', { by: approved_by, at: approved_at, why: approved_reason }, call, now);
  return factList([
    ['Status', windowStatusWord(status)],
    ['Endpoints', endpoints],
    ['From', moment(from, now)],
    ['Until', moment(until, now)],
    ['Opened', byWhom(call(made_by), made_at, now)],
    ['Quieted events', grouped(events)],
    ...(approved.length === 0 ? [['Approved', 'no'] as const] : approved),
  ]);
}

async function endpointLinks({ hosts }: EndpointService, { all, endpoint_ids }: WireWindow): Promise<MarkupContent> {
  if (all) return 'all, including those enrolled later';
  const links: Markup[] = [];
  for (const id of endpoint_ids.slice(0, SHORT_ROWS)) links.push(link(hostPath(id), (await hosts.find(id)).name));
  const left = endpoint_ids.length - links.length;
  const others = left === 0 ? null : ` and ${plural(left, 'other')}`;
  return markup`${links.map((each, at) => (at === 0 ? each : markup`, ${each}`))}${others}`;
}

function acts({ window_id, events }: WireWindow, request: FastifyRequest): Markup | null {
  if (events === 0) return null;
  return actsFor(request, 'endpoints:write', [
    action(windowPath(window_id, 'approve'), 'Approve the quieted events'),
    action(windowPath(window_id, 'reopen'), 'Reopen the quieted events', 'quiet'),
  ]);
}
