import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Markup, markup } from '../../../core/html/markup.ts';
import { agree, grouped } from '../../../core/plurals.ts';
import { type NameActor, namesOfActors } from '../../accounts/api.ts';
import { severityWord } from '../../alerts/api.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { serveOperationList } from '../../operations/list.ts';
import { serveOperationPage } from '../../operations/page.ts';
import { action, dataTable, digest, emptyState, factList, further, link, moment } from '../../web/components.ts';
import { filterSelect } from '../../web/filters.ts';
import { withQuery } from '../../web/own-path.ts';
import { cursorSchema } from '../../web/page.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { actsFor, section } from '../../web/sections.ts';
import { PATH_EVENT_TYPES } from '../enums.ts';
import { changeOperations } from '../operations/changes.ts';
import type { WireChange } from '../wire/events.ts';
import { eventTable } from './event-table.ts';
import { explanationSentences, explanationWord } from './explanation.ts';
import { decisionFacts, EVENT_WORDS } from './labels.ts';
import { CHANGES_ENDPOINTS, type EndpointPageParts } from './parts.ts';
import {
  ABOVE_CHANGES,
  ABOVE_ENDPOINTS,
  ABOVE_WINDOWS,
  changePath,
  ENDPOINTS_API,
  EVENTS_PATH,
  windowPath,
} from './paths.ts';
import { pathLine, shownPath } from './shown-path.ts';
import { sidesTable } from './sides.ts';

/** Pages of equal changes on many endpoints, and of one of these changes. */
export function changePages(server: FastifyInstance, parts: EndpointPageParts): void {
  listPage(server, parts);
  onePage(server, parts);
}

function listPage(server: FastifyInstance, { service, clock }: EndpointPageParts): void {
  serveOperationList(server, changeOperations(service).listChanges, {
    path: '/endpoints/changes',
    api: ENDPOINTS_API,
    head: () => ({
      title: 'Changes',
      above: ABOVE_ENDPOINTS,
      introduction: 'The same change at the same path is listed once, however many endpoints have it.',
    }),
    filters({ event_type }) {
      return filterSelect({ event_type }, ['event_type', 'What'], PATH_EVENT_TYPES, (value) => EVENT_WORDS[value].word);
    },
    table: (changes) => changeTable(changes, clock()),
  });
}

/** Returns a text such as `37 of 40 have it`. */
function placesWords({ places, of }: WireChange): string {
  return `${grouped(places)} of ${grouped(of)} ${agree(places, 'has', 'have')} it`;
}

function changeTable(changes: readonly WireChange[], now: Date): Markup {
  return dataTable({
    caption: 'Changes',
    columns: [
      { head: 'What', kind: 'name', cell: whatCell },
      { head: 'Severity', cell: ({ severity }) => severityWord(severity) },
      { head: 'Explanation', cell: (change) => explanationWord(change) },
      { head: 'Endpoints', kind: 'short', cell: placesWords },
      { head: 'First seen', cell: ({ first_seen }) => moment(first_seen, now) },
      { head: 'Expected', cell: ({ expected_sha256 }) => digest(expected_sha256) },
      { head: 'Observed', cell: ({ observed_sha256 }) => digest(observed_sha256) },
    ],
    rows: changes,
    empty: emptyState('No endpoint differs from its baseline.'),
  });
}

function whatCell(change: WireChange): Markup {
  const { word } = EVENT_WORDS[change.event_type];
  return markup`${link(changePath(change.change_id), pathLine(change))} <span class="minor">${word}</span>`;
}

function onePage(server: FastifyInstance, { service, people, clock }: EndpointPageParts): void {
  serveOperationPage(server, changeOperations(service).getChange, {
    path: '/endpoints/changes/:change_id',
    api: ENDPOINTS_API,
    query: cursorSchema,
    async view(change, { request, params: { change_id }, query: { cursor } }) {
      const { data, next_cursor } = await service.events.list({ change_id, cursor, limit: LIST_ROWS });
      const [event] = data;
      const nameActor = await namesOfActors(people, [change.approved_by]);
      const now = clock();
      const { word, sentence } = EVENT_WORDS[change.event_type];
      const empty = emptyState('No endpoint has this change.');
      const caption = 'Endpoints that have or had this change';
      return {
        title: `${pathLine(change)}: ${word}`,
        above: ABOVE_CHANGES,
        introduction: sentence,
        content: [
          facts(change, event?.window_id ?? null, nameActor, now),
          approve(change, request),
          event === undefined ? null : section('Expected and observed', sidesTable(event)),
          markup`<h2>Endpoints</h2>\n`,
          eventTable(data, { caption, of: 'change', hasStatus: true, now, empty }),
          further(changePath(change_id), { cursor }, next_cursor),
          markup`<p class="further">${link(withQuery(EVENTS_PATH, { change_id, status: 'open' }), 'Open events')}</p>\n`,
        ],
      };
    },
  });
}

function facts(change: WireChange, windowId: string | null, call: NameActor, now: Date): Markup {
  const { change_id, explanation, approved_by, approved_at, approved_reason } = change;
  return factList([
    ['Endpoints', placesWords(change)],
    ['Severity', severityWord(change.severity)],
    ['Path', shownPath(change)],
    ['Explanation', explanationSentences({ explanation, change_id, window_id: windowId })],
    ['First seen', moment(change.first_seen, now)],
    ['Last seen', moment(change.last_seen, now)],
    ...decisionFacts('Approved', { by: approved_by, at: approved_at, why: approved_reason }, call, now),
  ]);
}

function approve({ change_id, approved_at }: WireChange, request: FastifyRequest): Markup | null {
  if (approved_at !== null) return null;
  return actsFor(request, 'endpoints:write', action(changePath(change_id, 'approve'), 'Approve on all endpoints'));
}

/** Pages for the acts on changes of several endpoints at once. */
export function changeActPages(server: FastifyInstance, parts: EndpointPageParts): void {
  approveChangePage(server, parts);
  for (const act of ['approve', 'reopen'] as const) windowActPage(server, parts, act);
}

/** Approval lowers severities from now on, so it requires a fresh authentication. */
const APPROVES = { ...CHANGES_ENDPOINTS, proved: true };

function approveChangePage(server: FastifyInstance, { service }: EndpointPageParts): void {
  serveOperationAct(server, changeOperations(service).approveChange, {
    path: '/endpoints/changes/:change_id/approve',
    api: ENDPOINTS_API,
    access: APPROVES,
    subject: ({ change_id }) => service.changes.find(change_id),
    view(change) {
      const back = changePath(change.change_id);
      return {
        title: 'Approve this change',
        above: [...ABOVE_CHANGES, { title: pathLine(change), path: back }],
        introduction:
          'The change is explained on all endpoints, including those that get it later, and its severity is lowered. The baselines do not change.',
        submit: 'Approve',
        back,
      };
    },
    notice: () => 'The change is approved.',
  });
}

const WINDOW_ACTS = {
  approve: {
    operation: 'approveChangeWindow',
    access: APPROVES,
    title: 'Approve the quieted events',
    introduction:
      'The events that the window quieted are explained by it, and their severity is lowered. The baselines do not change.',
    submit: 'Approve',
    done: 'The quieted events are approved.',
  },
  reopen: {
    operation: 'reopenChangeWindow',
    access: CHANGES_ENDPOINTS,
    title: 'Reopen the quieted events',
    introduction: 'Quieted events that nobody has approved or acknowledged open again.',
    submit: 'Reopen',
    done: 'The quieted events are reopened.',
  },
} as const;

function windowActPage(server: FastifyInstance, { service }: EndpointPageParts, act: keyof typeof WINDOW_ACTS): void {
  const { operation, access, done, ...words } = WINDOW_ACTS[act];
  serveOperationAct(server, changeOperations(service)[operation], {
    path: `/endpoints/change-windows/:window_id/${act}`,
    api: ENDPOINTS_API,
    access,
    subject: ({ window_id }) => service.windows.find(window_id),
    view({ window_id, reason }) {
      const back = windowPath(window_id);
      return { ...words, above: [...ABOVE_WINDOWS, { title: reason, path: back }], back };
    },
    notice: () => done,
  });
}
