import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { setImmediate as nextTick } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { WireStream } from '../../contract/default.ts';
import type { EntryRow, StreamRow, Tables } from '../store/schema.ts';
import { fromCursor, toCursor } from './cursor.ts';
import type { EntriesQuery, PageQuery } from './requests.ts';

/** Entries looked at without giving way to other requests, however few of them a filter lets through. */
const WINDOW = 5000;

/** Characters of metadata in one answer; a page that would exceed them is shorter than its limit. */
const ANSWER_CHARACTERS = 2 ** 23;

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
 * The entries that match, ordered by stream and sequence. Appending goes on while somebody pages: what was there when
 * the first page was read is listed exactly once.
 */
export async function listEntries(
  database: DatabaseSync,
  db: Kysely<Tables>,
  query: EntriesQuery,
): Promise<Page<EntryRow>> {
  const data: EntryRow[] = [];
  let after = startOf(query);
  let characters = 0;
  while (true) {
    const until = await endOfWindow(db, query, after);
    const { sql: text, parameters } = matching(db, query, { after, until }, query.limit + 1 - data.length).compile();
    for (const row of database.prepare(text).iterate(...(parameters as SQLInputValue[]))) {
      const last = data.at(-1);
      if (last && (data.length === query.limit || characters >= ANSWER_CHARACTERS))
        return { data, next_cursor: toCursor('entries', [last.stream_id, last.sequence]) };
      const entry = row as unknown as EntryRow;
      data.push(entry);
      characters += entry.metadata.length;
    }
    if (until === null) return { data, next_cursor: null };
    after = until;
    await nextTick();
  }
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
    .where(sql<boolean>`(stream_id, sequence) > (${after[0]}, ${after[1]})`)
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
    .selectAll()
    .where(sql<boolean>`(stream_id, sequence) > (${after[0]}, ${after[1]})`)
    .orderBy('stream_id')
    .orderBy('sequence')
    .limit(limit);
  if (until !== null) select = select.where(sql<boolean>`(stream_id, sequence) <= (${until[0]}, ${until[1]})`);
  for (const column of ['stream_id', 'actor', 'action', 'resource_type', 'resource_id'] as const) {
    const value = query[column];
    if (value !== undefined) select = select.where(column, '=', value);
  }
  // The unary plus keeps SQLite from choosing the index by time, which would make it sort.
  if (query.from !== undefined) select = select.where(sql<boolean>`+timestamp >= ${query.from}`);
  if (query.to !== undefined) select = select.where(sql<boolean>`+timestamp < ${query.to}`);
  if (query.after_sequence !== undefined) select = select.where('sequence', '>', query.after_sequence);
  return select;
}
