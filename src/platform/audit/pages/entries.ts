import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { hangUpOf } from '../../http/caller.ts';
import { digits } from '../../http/fields.ts';
import { copyable, dataTable, digest, emptyState, factList, further, link, moment } from '../../web/components.ts';
import { filterField, filterForm, filtersOf } from '../../web/filters.ts';
import { formTime, toFormTime } from '../../web/form-time.ts';
import { type Query, withQuery } from '../../web/own-path.ts';
import { servePage } from '../../web/page.ts';
import { LIST_ROWS } from '../../web/rows.ts';
import { lastEntries } from '../repository.ts';
import { entryToWire } from '../rules.ts';
import { findStream, recordedEntry } from '../streams.ts';
import { type EntriesQuery, entriesQuerySchema, streamParamsSchema, type WireEntry } from '../wire.ts';
import type { AuditPageParts } from './parts.ts';
import { pathOfKey, streamPath, waysTo } from './paths.ts';

const MAY_READ = { scope: 'audit:read' } as const;

const filterSchema = filtersOf(
  entriesQuerySchema.omit({ stream_id: true, after_sequence: true, limit: true }).extend({
    from: formTime.optional(),
    to: formTime.optional(),
    /** Sequence number before which the newest entries are listed. */
    before: digits(z.int().min(1)).optional(),
  }),
);

const FIELDS = [
  ['actor', 'Actor'],
  ['action', 'Action'],
  ['resource_type', 'Resource type'],
  ['resource_id', 'Resource id'],
] as const;

const TIMES = [
  ['from', 'Recorded from, in UTC'],
  ['to', 'Recorded before, in UTC'],
] as const;

/** Pages of a stream's entries: the list, and a single entry. */
export function pagesOfEntries(server: FastifyInstance, parts: AuditPageParts): void {
  listPage(server, parts);
  onePage(server, parts);
}

function listPage(server: FastifyInstance, { service }: AuditPageParts): void {
  servePage(server, {
    path: '/audit/streams/:stream_id/entries',
    access: MAY_READ,
    params: streamParamsSchema,
    query: filterSchema,
    async view({ reply, params: { stream_id }, query: { before, cursor, ...filters } }) {
      await findStream(service.database, stream_id);
      const isFiltered = Object.keys(filters).length > 0;
      const path = streamPath(stream_id, 'entries');
      const { data, goesOn } = isFiltered
        ? await matching(parts(service, reply), { ...filters, cursor, stream_id, limit: LIST_ROWS }, path)
        : await newest(service, stream_id, before, path);
      return {
        title: 'Entries',
        above: waysTo(stream_id),
        introduction: isFiltered ? 'Matching entries, oldest first.' : 'Newest first.',
        content: [filterFields(path, filters), entryTable(data, service.clock()), goesOn],
        api: { path: withQuery('/audit/entries/', { stream_id, ...filters }) },
      };
    },
  });
}

function parts(service: AuditPageParts['service'], reply: Parameters<typeof hangUpOf>[0]) {
  return { service, signal: hangUpOf(reply) };
}

interface EntryRows {
  data: WireEntry[];
  goesOn: Markup | null;
}

async function matching(
  { service, signal }: ReturnType<typeof parts>,
  query: EntriesQuery,
  path: string,
): Promise<EntryRows> {
  const page = Buffer.from(await service.readers.read('entries', query, signal)).toString();
  const { data, next_cursor } = JSON.parse(page) as { data: WireEntry[]; next_cursor: string | null };
  const { stream_id: _, limit: __, ...filters } = query;
  return { data, goesOn: further(path, filters, next_cursor) };
}

async function newest(
  { database }: AuditPageParts['service'],
  streamId: string,
  before: number | undefined,
  path: string,
): Promise<EntryRows> {
  const rows = await lastEntries(database, streamId, { limit: LIST_ROWS + 1, before });
  const data = rows.slice(0, LIST_ROWS).map(entryToWire);
  const next = rows.length <= LIST_ROWS ? null : (data.at(-1)?.sequence ?? null);
  return { data, goesOn: further(path, { before }, next, 'before') };
}

function filterFields(path: string, filters: Query): Markup {
  const given = (field: string) => String(filters[field] ?? '');
  const fields = [
    ...FIELDS.map(([name, label]) => filterField({ name, label, value: given(name) })),
    ...TIMES.map(([name, label]) => filterField({ name, label, value: toFormTime(given(name)) }, 'time')),
  ];
  return filterForm(path, filters, fields);
}

export function entryTable(entries: readonly WireEntry[], now: Date): Markup {
  return dataTable({
    caption: 'Entries',
    columns: [
      {
        head: 'Entry',
        kind: 'name',
        cell: ({ stream_id, sequence }) => link(streamPath(stream_id, 'entries', sequence), grouped(sequence)),
      },
      { head: 'Actor', cell: ({ actor }) => name(actor) },
      { head: 'Action', cell: ({ action }) => name(action) },
      {
        head: 'Resource',
        cell: (entry) => markup`${name(entry.resource_type)} <code>${name(entry.resource_id)}</code>`,
      },
      { head: 'Recorded', cell: ({ timestamp }) => moment(timestamp, now) },
    ],
    rows: entries,
    empty: emptyState('No entries match.'),
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
