import type { FastifyInstance } from 'fastify';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { pageQuerySchema } from '../../http/fields.ts';
import { serveOperationAct } from '../../operations/act.ts';
import { personOf } from '../../web/access.ts';
import { dataTable, factList, further, link, moment, momentOr, statusWord } from '../../web/components.ts';
import { PAGES } from '../../web/own-path.ts';
import { servePage } from '../../web/page.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import type { ModulePages } from '../../web/web.ts';
import type { AdministrationOperations } from '../operations.ts';
import type { AdministrationService } from '../service.ts';
import { actTable, referencesIn } from './act-table.ts';
import { type NameSources, Names } from './names.ts';

const PATH = `${PAGES}/administration`;
const ABOVE = [{ title: 'Administration', path: PATH }];

type DeadLetters = Awaited<ReturnType<AdministrationService['deadLetters']>>['data'];

export interface AdministrationPageParts {
  service: AdministrationService;
  operations: AdministrationOperations;
  sources: NameSources;
  clock: () => Date;
  settings: Settings;
}

/** Settings in force: names and values without secrets. */
export type Settings = readonly (readonly [name: string, value: string])[];

/** Number of failed messages on a page. */
const LETTERS = 20;

export function pagesOfAdministration(parts: AdministrationPageParts): ModulePages {
  return {
    nav: [{ title: 'Administration', path: PATH, scope: 'administration:read' }],
    async routes(server) {
      overview(server, parts);
      replayPage(server, parts);
    },
  };
}

function overview(server: FastifyInstance, { service, sources, clock, settings }: AdministrationPageParts): void {
  servePage(server, {
    path: '/administration',
    access: { scope: 'administration:read' },
    query: pageQuerySchema,
    async view({ request, query: { cursor } }) {
      const acts = await service.acts({ cursor, limit: LIST_ROWS });
      const letters = await service.deadLetters({ limit: LETTERS });
      const channels = letters.data.flatMap(({ alert_channel_id: id }) =>
        id === null ? [] : [{ type: 'alert_channel', id }],
      );
      const names = await Names.read(sources, [...referencesIn(acts.data), ...channels]);
      const mayReplay = personOf(request).scopes.includes('administration:write');
      return {
        title: 'Administration',
        introduction: 'Undeliverable messages, administrative acts, and the settings in force.',
        content: markup`<h2>Undeliverable messages</h2>
${letterTable(letters.data, names, mayReplay ? [TRY_AGAIN] : [], clock())}
<h2>Administrative acts</h2>
<p class="minor">Entries of the stream <code>platform/administration</code>, newest first. They are sealed like all entries, so Verify detects changes.</p>
${actTable(acts.data, names, clock())}${further(PATH, { cursor }, acts.next_cursor)}
<h2>Settings in force</h2>
${factList(settings.map(([label, value]) => [label, name(value)] as const))}`,
        api: { path: '/administration/acts' },
      };
    },
  });
}

const TRY_AGAIN = {
  head: 'Try again',
  kind: 'act',
  cell: ({ message_id }: DeadLetters[number]) =>
    link(`${PATH}/messages/${encodeURIComponent(message_id)}/replay`, 'Try again'),
} as const;

/** @param acts columns of acts that the person may do. */
function letterTable(letters: DeadLetters, names: Names, acts: readonly (typeof TRY_AGAIN)[], now: Date): Markup {
  return dataTable({
    caption: 'Undeliverable messages',
    columns: [
      { head: 'Kind', kind: 'name', cell: ({ kind }) => name(kind) },
      {
        head: 'Channel',
        cell: ({ alert_channel_id: id }) => (id === null ? '–' : names.show({ type: 'alert_channel', id }, id)),
      },
      { head: 'Error', cell: ({ last_error }) => name(last_error ?? '') },
      { head: 'Created', cell: ({ created_at }) => moment(created_at, now) },
      { head: 'Given up', cell: ({ ended_at }) => momentOr(ended_at, now, '–') },
      { head: 'Attempts', kind: 'number', cell: ({ attempts }) => attempts },
      ...acts,
    ],
    rows: letters,
    empty: markup`<p>${statusWord('good', 'none')} All messages were delivered or are still being retried.</p>`,
  });
}

function replayPage(server: FastifyInstance, { operations }: AdministrationPageParts): void {
  serveOperationAct(server, operations.replayDeadLetter, {
    path: '/administration/messages/:message_id/replay',
    api: '/administration',
    subject: async (params) => params,
    view: () => ({
      title: 'Retry the delivery of a message',
      above: ABOVE,
      submit: 'Try again',
      back: PATH,
      introduction: 'The platform delivers the message like a new one, with its attempts reset.',
    }),
    notice: () => 'The message is queued again.',
  });
}
