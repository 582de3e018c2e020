import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { setImmediate as nextTick } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { WireStream } from '../../core/wire.ts';
import type { StreamRow, Tables } from '../store/schema.ts';
import { fromCursor, toCursor } from './cursor.ts';
import type { EntriesQuery, PageQuery } from './requests.ts';
import { ENTRY_JSON, joined } from './store.ts';

/** Entries looked at without giving way to other requests, however few of them a filter lets through. */
const WINDOW = 5000;

/** Characters of metadata in one answer; a page that would exceed them is shorter than its limit. */
const ANSWER_CHARACTERS = 2 ** 23;

/** Columns that are not in the order of the list. */
const FILTERS = ['actor', 'action', 'resource_type', 'resource_id'] as const;

interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

/** After which entry to go on, and up to which to look; `until` null means to the end. */
interface Span {
  after: [string, number];
  until: [string, number] | null;
}

/** The streams in the order of their ids. */
export async function listStreams(db: Kysely<Tables>, { limit, cursor }: PageQuery): Promise<Page<WireStream>> {
  let query = db
    .selectFrom('streams')
    .selectAll()
    .orderBy('stream_id')
    .limit(limit + 1);
  if (cursor !== undefined) query = query.where('stream_id', '>', fromCursor('streams', ['string'], cursor)[0]);
  const rows = await query.execute();
  const data = rows.slice(0, limit).map(streamToWire);
  const last = data.at(-1);
  return { data, next_cursor: rows.length > limit && last ? toCursor('streams', [last.stream_id]) : null };
}

export function streamToWire(row: StreamRow): WireStream {
  return { ...row, verified: row.verified === 1 };
}

/**
 * The entries that match, ordered by stream and sequence, as JSON separated by commas. Appending goes on while somebody
 * pages: what was there when the first page was read is listed exactly once.
 */
export async function listEntries(
  database: DatabaseSync,
  db: Kysely<Tables>,
  query: EntriesQuery,
): Promise<{ data: Uint8Array; next_cursor: string | null }> {
  const data: Uint8Array[] = [];
  const page: Extent = { last: null, count: 0, characters: 0 };
  let after = startOf(query);
  for (;;) {
    const until = isFiltered(query) ? await endOfWindow(db, query, after) : null;
    const before = page.count;
    const isFull = extend(page, query, rowsOf(database, matching(db, query, { after, until }, query.limit + 1)));
    if (page.count > before) {
      const { sql: text, parameters } = matching(db, query, { after, until: page.last }, query.limit)
        .select(sql.raw<string>(ENTRY_JSON).as('json'))
        .compile();
      const row = database.prepare(`SELECT ${joined('json')} AS text FROM (${text})`).get(...toValues(parameters));
      data.push(...(before > 0 ? [COMMA] : []), row?.['text'] as Uint8Array);
    }
    if (isFull || until === null)
      return { data: Buffer.concat(data), next_cursor: isFull && page.last ? toCursor('entries', page.last) : null };
    after = until;
    await nextTick();
  }
}

const COMMA = Buffer.from(',');

/** What is on a page so far. */
interface Extent {
  last: [string, number] | null;
  count: number;
  characters: number;
}

interface Row {
  stream_id: string;
  sequence: number;
  size: number;
}

/** Takes rows for as long as there is room; whether one was left out. */
function extend(page: Extent, { limit }: EntriesQuery, rows: readonly Row[]): boolean {
  for (const { stream_id, sequence, size } of rows) {
    if (page.count === limit || page.characters >= ANSWER_CHARACTERS) return true;
    page.last = [stream_id, sequence];
    page.count++;
    page.characters += size;
  }
  return false;
}

function rowsOf(database: DatabaseSync, query: ReturnType<typeof matching>): Row[] {
  const { sql: text, parameters } = query
    .select(['stream_id', 'sequence', sql<number>`octet_length(metadata)`.as('size')])
    .compile();
  return database.prepare(text).all(...toValues(parameters)) as unknown as Row[];
}

function toValues(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters as SQLInputValue[];
}

/** Whether entries are passed over, perhaps very many for one that matches. */
function isFiltered(query: EntriesQuery): boolean {
  return ([...FILTERS, 'from', 'to'] as const).some((name) => query[name] !== undefined);
}

function startOf({ cursor, stream_id, after_sequence }: EntriesQuery): [string, number] {
  if (cursor !== undefined) return fromCursor('entries', ['string', 'number'], cursor);
  return [stream_id ?? '', stream_id === undefined ? 0 : (after_sequence ?? 0)];
}

/** The last entry of the window that begins after `after`, or null when the window reaches the end. */
async function endOfWindow(
  db: Kysely<Tables>,
  { stream_id }: EntriesQuery,
  after: [string, number],
): Promise<[string, number] | null> {
  let query = db
    .selectFrom('entries')
    .select(['stream_id', 'sequence'])
    .where(follows(after, stream_id))
    .orderBy('stream_id')
    .orderBy('sequence')
    .offset(WINDOW - 1)
    .limit(1);
  if (stream_id !== undefined) query = query.where('stream_id', '=', stream_id);
  const row = await query.executeTakeFirst();
  return row === undefined ? null : [row.stream_id, row.sequence];
}

function matching(db: Kysely<Tables>, query: EntriesQuery, { after, until }: Span, limit: number) {
  let select = db
    .selectFrom('entries')
    .where(follows(after, query.stream_id))
    .orderBy('stream_id')
    .orderBy('sequence')
    .limit(limit);
  if (until !== null) select = select.where(sql<boolean>`(stream_id, sequence) <= (${until[0]}, ${until[1]})`);
  for (const column of ['stream_id', ...FILTERS] as const) {
    const value = query[column];
    if (value !== undefined) select = select.where(column, '=', value);
  }
  // The unary plus keeps SQLite from choosing the index by time, which would make it sort.
  if (query.from !== undefined) select = select.where(sql<boolean>`+timestamp >= ${query.from}`);
  if (query.to !== undefined) select = select.where(sql<boolean>`+timestamp < ${query.to}`);
  if (query.after_sequence !== undefined) select = select.where('sequence', '>', query.after_sequence);
  return select;
}

/** Of one stream SQLite would not use the index for a row value, and look at all that stands before it. */
function follows([streamId, sequence]: [string, number], only: string | undefined) {
  return streamId === only
    ? sql<boolean>`sequence > ${sequence}`
    : sql<boolean>`(stream_id, sequence) > (${streamId}, ${sequence})`;
}
