import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ReadableDatabase, Reader } from '../database/database.ts';
import { settledNumber } from '../database/numbering.ts';
import { fromCursor, invalidCursor, toCursor } from '../http/cursor.ts';
import { sortedPage } from '../http/newest-first.ts';
import { entriesByNumber } from './entry-rows.ts';
import type { RowSeals } from './sealed-rows.ts';
import { type FoundEntry, searchEntries } from './searching.ts';
import { streamsQuery, streamToWire } from './streams.ts';
import type { AuditTables } from './tables.ts';
import { FILTERS } from './terms.ts';
import type { EntriesQuery, StreamsQuery, WireStream } from './wire.ts';

/** Maximum bytes of metadata in one answer; a page that would exceed them ends before its limit. */
const ANSWER_BYTES = 2 ** 23;

/** Time after which a page is read again whose entries a running transaction may precede. */
const PENDING_MS = 5;

interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

/** Upper bound of a prefix search: in byte order, U+10FFFF sorts after every continuation of the prefix. */
const LAST_CHARACTER = '\u{10ffff}';

/** Returns a page of streams, ordered by id. */
export async function listStreams(
  reader: Reader,
  seals: RowSeals,
  { limit, cursor, begins_with, verification_status }: StreamsQuery,
): Promise<Page<WireStream>> {
  let query = streamsQuery(reader);
  if (begins_with !== undefined && begins_with !== '')
    query = query.where('stream_id', '>=', begins_with).where('stream_id', '<', begins_with + LAST_CHARACTER);
  if (verification_status !== undefined) query = query.where(STATES[verification_status]);
  const sorting = { list: 'streams', by: { stream_id: 'string' }, direction: 'asc' } as const;
  const { page, next_cursor } = await sortedPage(query, sorting, { limit, cursor });
  return { data: page.map((row) => streamToWire(row, seals)), next_cursor };
}

const STATES = {
  unverified: sql<boolean>`verified IS NULL`,
  verified: sql<boolean>`verified = 1`,
  failed: sql<boolean>`verified = 0`,
  stale: sql<boolean>`verified IS NOT NULL AND head_sequence > coalesce(to_sequence, 0)`,
};

/**
 * Returns a page of the matching entries as JSON, in the order in which they were recorded or in reverse, with its
 * `next_cursor`. Entries may be appended between pages. Every entry that existed when the first page was read is listed
 * exactly once, and pages from the oldest entry on never list an entry without the earlier ones of its stream. A page
 * whose entries are hard to find may have fewer than the limit, or none, and a `next_cursor`.
 */
export async function listEntries(
  database: ReadableDatabase,
  query: EntriesQuery,
  signal: AbortSignal,
): Promise<Uint8Array> {
  for (;;) {
    // Before the snapshot, which then contains all entries up to this one.
    const settled = isAscending(query) ? await settledNumber(database, 'entries', 'recorded') : Infinity;
    const page = await database.snapshot((reader) => pageOfEntries(reader, query, settled));
    if (page !== null) return page;
    await sleep(PENDING_MS);
    signal.throwIfAborted();
  }
}

/** Reports whether a later page could miss an entry of a transaction that is still running. */
function isAscending(query: EntriesQuery): boolean {
  return query.order === 'oldest' && !isOfOneStream(query);
}

/** Reports whether a list is a range of one stream, whose index answers it. */
function isOfOneStream({ stream_id, q, metadata, ...query }: EntriesQuery): boolean {
  return stream_id?.length === 1 && [q, metadata, ...FILTERS.map((column) => query[column])].every(isAbsent);
}

function isAbsent(value: unknown): boolean {
  return value === undefined;
}

/** @returns null if the page would go on after entries that a running transaction may precede. */
async function pageOfEntries(reader: Reader, query: EntriesQuery, settled: number): Promise<Uint8Array | null> {
  const after = startOf(query);
  const { rows, reached } = isOfOneStream(query)
    ? { rows: await rangeOfStream(reader, query, after), reached: null }
    : await searchEntries(reader, query, after);
  let taken = rows.slice(0, roomFor(rows, query.limit));
  let end = taken.length < rows.length ? (taken.at(-1)?.position ?? null) : reached;
  if (end !== null && end > settled) {
    taken = taken.filter(({ recorded }) => recorded <= settled);
    end = settled;
    if (end <= (after ?? 0)) return null;
  }
  const column = isOfOneStream(query) ? 'sequence' : 'recorded';
  const numbers = taken.map(({ recorded }) => recorded);
  const texts = await entriesByNumber(reader, numbers, column, query.order === 'oldest' ? 'asc' : 'desc');
  const cursor = end === null ? null : toCursor(listOf(query), [query.order, end]);
  return Buffer.from(`{"data":[${texts.join(',')}],"next_cursor":${JSON.stringify(cursor)}}`);
}

/** Returns the number of rows that fit in a page. */
function roomFor(rows: readonly FoundEntry[], limit: number): number {
  let bytes = 0;
  let count = 0;
  for (const { size } of rows) {
    if (count === limit || bytes >= ANSWER_BYTES) break;
    bytes += size;
    count++;
  }
  return count;
}

/** Returns the position after which a page starts: a sequence number in a list of one stream, else `recorded`. */
function startOf(query: EntriesQuery): number | null {
  if (query.cursor === undefined) return null;
  const [order, position] = fromCursor(listOf(query), ['string', 'number'], query.cursor);
  if (order !== query.order) throw invalidCursor();
  return position;
}

/** Name of the list in its cursors. */
function listOf(query: EntriesQuery): string {
  return isOfOneStream(query) ? `entries of ${query.stream_id?.[0]}` : 'entries';
}

/** Returns the entries of one stream. The times of most streams never decrease, so a period is one range. */
async function rangeOfStream(reader: Reader, query: EntriesQuery, after: number | null): Promise<FoundEntry[]> {
  const tables = reader.tables<AuditTables>();
  const streams = tables
    .selectFrom('streams')
    .select('stream_no')
    .where('stream_id', '=', query.stream_id?.[0] ?? '');
  const stream = await streams.executeTakeFirst();
  if (stream === undefined) return [];
  const isUp = query.order === 'oldest';
  const size = sql<number>`octet_length(metadata)`.as('size');
  let entries = tables.selectFrom('entries').where('stream_no', '=', stream.stream_no);
  const range = await rangeOfPeriod(reader, stream.stream_no, query);
  if (range === null) return [];
  entries = entries.where('sequence', '>=', range.first).where('sequence', '<=', range.last);
  entries = entries.where('sequence', '>', query.after_sequence ?? 0);
  if (after !== null) entries = entries.where('sequence', isUp ? '>' : '<', after);
  // The concatenation keeps the database from choosing an index on this column, whose results it would have to sort.
  if (query.from !== undefined) entries = entries.where(sql<boolean>`timestamp || '' >= ${query.from}`);
  if (query.to !== undefined) entries = entries.where(sql<boolean>`timestamp || '' < ${query.to}`);
  const sorted = entries.orderBy('sequence', isUp ? 'asc' : 'desc').limit(query.limit + 1);
  return sorted.select(['recorded', 'sequence as position', size]).execute();
}

/**
 * Returns a range of sequence numbers that contains a stream's entries in a period. A stream whose clock was corrected is
 * searched as a whole.
 */
async function rangeOfPeriod(
  reader: Reader,
  streamNo: number,
  { from, to }: EntriesQuery,
): Promise<{ first: number; last: number } | null> {
  const all = reader.tables<AuditTables>().selectFrom('entries').select('sequence');
  const entries = all.where('stream_no', '=', streamNo);
  const corrected = entries.where(sql<boolean>`action = 'clock.corrected' AND resource_type = 'clock'`).limit(1);
  if ((await corrected.execute()).length > 0) return { first: 1, last: Number.MAX_SAFE_INTEGER };
  const end = (query: typeof entries, direction: 'asc' | 'desc') =>
    query.orderBy('timestamp', direction).orderBy('sequence', direction).limit(1).executeTakeFirst();
  const first = from === undefined ? { sequence: 1 } : await end(entries.where('timestamp', '>=', from), 'asc');
  const most = { sequence: Number.MAX_SAFE_INTEGER };
  const last = to === undefined ? most : await end(entries.where('timestamp', '<', to), 'desc');
  return first === undefined || last === undefined ? null : { first: first.sequence, last: last.sequence };
}
