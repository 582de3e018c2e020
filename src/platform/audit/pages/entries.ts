import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { hangUpOf } from '../../http/caller.ts';
import { digits, pageQuerySchema, text } from '../../http/fields.ts';
import { copyable, dataTable, digest, emptyState, factList, further, link, moment } from '../../web/components.ts';
import { filterField, filterForm, filterSelect, filtersOf } from '../../web/filters.ts';
import { formTime, toFormTime } from '../../web/form-time.ts';
import { withQuery } from '../../web/own-path.ts';
import { servePage } from '../../web/page.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { entryToWire } from '../rules.ts';
import type { AuditService } from '../service.ts';
import { findStream, recordedEntry } from '../streams.ts';
import { entryFilters } from '../wire/filters.ts';
import { streamParamsSchema, type WireEntry } from '../wire.ts';
import type { AuditPageParts } from './parts.ts';
import { ENTRIES_PATH, pathOfKey, streamPath, waysTo } from './paths.ts';

const MAY_READ = { scope: 'audit:read' } as const;

const filterSchema = pageQuerySchema.pick({ cursor: true }).extend({
  ...entryFilters,
  from: formTime.optional(),
  to: formTime.optional(),
  order: z.enum(['newest', 'oldest']).optional(),
});

const allFilterSchema = filterSchema.extend({ stream_id: text.optional() });

type Filters = z.output<typeof allFilterSchema>;

const FIELDS = [
  ['q', 'Words in any field'],
  ['actor', 'Actor'],
  ['action', 'Action'],
  ['resource_type', 'Resource type'],
  ['resource_id', 'Resource id'],
  ['metadata', 'Metadata, as name:value'],
] as const;

const TIMES = [
  ['from', 'Recorded from, in UTC'],
  ['to', 'Recorded before, in UTC'],
] as const;

/** Pages of entries: the list of all streams, the list of one, and a single entry. */
export function pagesOfEntries(server: FastifyInstance, parts: AuditPageParts): void {
  allPage(server, parts);
  listPage(server, parts);
  onePage(server, parts);
}

function allPage(server: FastifyInstance, { service }: AuditPageParts): void {
  servePage(server, {
    path: '/audit/entries',
    access: MAY_READ,
    query: filtersOf(allFilterSchema),
    view: async ({ reply, query }) => ({
      ...(await listView(service, query, { path: ENTRIES_PATH, isOfAll: true, signal: hangUpOf(reply) })),
      above: waysTo(null),
    }),
  });
}

function listPage(server: FastifyInstance, { service }: AuditPageParts): void {
  servePage(server, {
    path: '/audit/streams/:stream_id/entries',
    access: MAY_READ,
    params: streamParamsSchema,
    query: filtersOf(filterSchema),
    async view({ reply, params: { stream_id }, query }) {
      await findStream(service.database, stream_id);
      const place = { path: streamPath(stream_id, 'entries'), isOfAll: false, signal: hangUpOf(reply) };
      return { ...(await listView(service, { ...query, stream_id }, place)), above: waysTo(stream_id) };
    },
  });
}

interface ListPlace {
  path: string;
  /** True for the list of all streams. */
  isOfAll: boolean;
  signal: AbortSignal;
}

async function listView(service: AuditService, filters: Filters, { path, isOfAll, signal }: ListPlace) {
  const { cursor, stream_id, ...others } = filters;
  const order = filters.order ?? 'newest';
  const query = { ...filters, stream_id: stream_id === undefined ? undefined : [stream_id], order, limit: LIST_ROWS };
  const page = Buffer.from(await service.readers.read('entries', query, signal)).toString();
  const { data, next_cursor } = JSON.parse(page) as { data: WireEntry[]; next_cursor: string | null };
  const asked = isOfAll ? { ...others, stream_id } : others;
  const scope = isOfAll ? 'Entries of all streams' : 'Entries of this stream';
  return {
    title: 'Entries',
    introduction: `${scope}, ${order} first.`,
    content: [
      filterForm(path, asked, filterFields(filters, isOfAll)),
      entryTable(data, service.clock(), { hasStream: isOfAll, empty: emptyWords(filters, next_cursor) }),
      further(path, { ...asked, cursor }, next_cursor),
    ],
    api: { path: withQuery('/audit/entries/', { stream_id, ...others, order }) },
  };
}

/** States why a page has no entries. */
function emptyWords({ cursor, order: _, ...filters }: Filters, next: string | null): Markup {
  if (next !== null)
    return emptyState('None of the entries searched so far match. The search goes on on the next page.');
  if (cursor !== undefined) return emptyState('No further entries match.');
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return emptyState(isFiltered ? 'No entries match.' : 'No entries yet.');
}

function filterFields(filters: Filters, isOfAll: boolean): Markup[] {
  const streams = isOfAll ? ([['stream_id', 'Stream']] as const) : [];
  return [
    ...[...FIELDS, ...streams].map(([field, label]) => filterField({ name: field, label, value: filters[field] })),
    ...TIMES.map(([field, label]) =>
      filterField({ name: field, label, value: toFormTime(filters[field] ?? '') }, 'time'),
    ),
    filterSelect(filters, ['order', 'Order'], ['newest', 'oldest'], (order) => `${order} first`),
  ];
}

interface TableShown {
  /** True for a list of several streams. */
  hasStream: boolean;
  /** Content in place of a table without rows. */
  empty: Markup;
}

export function entryTable(entries: readonly WireEntry[], now: Date, { hasStream, empty }: TableShown): Markup {
  return dataTable({
    caption: 'Entries',
    columns: [
      {
        head: 'Entry',
        kind: 'name',
        cell: ({ stream_id, sequence }) => link(streamPath(stream_id, 'entries', sequence), grouped(sequence)),
      },
      ...(hasStream
        ? [{ head: 'Stream', cell: ({ stream_id }: WireEntry) => link(streamPath(stream_id), stream_id) }]
        : []),
      { head: 'Actor', cell: ({ actor }) => name(actor) },
      { head: 'Action', cell: ({ action }) => name(action) },
      {
        head: 'Resource',
        cell: (entry) => markup`${name(entry.resource_type)} <code>${name(entry.resource_id)}</code>`,
      },
      { head: 'Recorded', cell: ({ timestamp }) => moment(timestamp, now) },
    ],
    rows: entries,
    empty,
  });
}

const entryParamsSchema = streamParamsSchema.extend({ sequence: digits(z.int().min(1)) });

function onePage(server: FastifyInstance, { service }: AuditPageParts): void {
  servePage(server, {
    path: '/audit/streams/:stream_id/entries/:sequence',
    access: MAY_READ,
    params: entryParamsSchema,
    async view({ params: { stream_id, sequence } }) {
      const entry = entryToWire(await recordedEntry(service.database, stream_id, sequence));
      const asked = { stream_id, after_sequence: sequence - 1, limit: 1 };
      return {
        title: `Entry ${grouped(sequence)}`,
        above: [...waysTo(stream_id), { title: 'Entries', path: streamPath(stream_id, 'entries') }],
        introduction: 'The entry as recorded. Verify detects changes.',
        content: [
          entryFacts(entry, service.clock()),
          markup`<h2>As JSON</h2>\n`,
          copyable('json', 'The entry as JSON', JSON.stringify(entry, null, 2)),
        ],
        api: { path: withQuery('/audit/entries/', asked) },
      };
    },
  });
}

/** Returns the caller that sent an entry, with a link to its API key. */
function recorder(recordedBy: string): Markup {
  const key = /^key:(\w+)$/.exec(recordedBy)?.[1];
  return key === undefined ? name(recordedBy) : markup`API key ${link(pathOfKey(key), key)}`;
}

function entryFacts(entry: WireEntry, now: Date): Markup {
  const { stream_id, sequence, occurred_at } = entry;
  return factList([
    ['Actor', name(entry.actor)],
    ['Action', name(entry.action)],
    ['Resource', markup`${name(entry.resource_type)} <code>${name(entry.resource_id)}</code>`],
    ['Recorded', moment(entry.timestamp, now)],
    ['Recorded by', recorder(entry.recorded_by)],
    ...(occurred_at === undefined ? [] : [['Occurred, according to the sender', name(occurred_at)] as const]),
    ['Hash', digest(entry.hash)],
    [
      'Hash of the previous entry',
      sequence === 1
        ? 'none: this is the first entry'
        : markup`${digest(entry.prev_hash)} ${link(streamPath(stream_id, 'entries', sequence - 1), 'Show it')}`,
    ],
    ['Seal key', markup`<code>${name(entry.seal_key_id)}</code>`],
  ]);
}
