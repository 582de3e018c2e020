import { setImmediate as nextTick } from 'node:timers/promises';
import { sql } from 'kysely';
import { batches } from '../database/batches.ts';
import type { Reader } from '../database/database.ts';
import { fromCursor, invalidCursor, toCursor } from '../http/cursor.ts';
import { sortedPage } from '../http/newest-first.ts';
import { entriesToJson, type StreamName } from './entry-rows.ts';
import type { RowSeals } from './sealed-rows.ts';
import { streamsQuery, streamToWire } from './streams.ts';
import type { AuditTables } from './tables.ts';
import type { EntriesQuery, StreamsQuery, WireStream } from './wire.ts';

/** Number of sequence numbers examined without yielding to other requests, even if a filter matches few entries. */
const WINDOW = 5000;

/** Maximum bytes of metadata in one answer; a page that would exceed them ends before its limit. */
const ANSWER_BYTES = 2 ** 23;

/** Number of streams read at once if earlier streams had too few entries for a page. */
const STREAMS = 100;

const FILTERS = ['actor', 'action', 'resource_type', 'resource_id'] as const;

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
  if (verification_status === 'failed') query = query.where('verified', '=', 0);
  const sorting = { list: 'streams', by: { stream_id: 'string' }, direction: 'asc' } as const;
  const { page, next_cursor } = await sortedPage(query, sorting, { limit, cursor });
  return { data: page.map((row) => streamToWire(row, seals)), next_cursor };
}

/**
 * Returns a page of the matching entries as JSON, ordered by stream and sequence, with its `next_cursor`. Entries may
 * be appended between pages: every entry that existed when the first page was read is listed exactly once.
 */
export async function listEntries(reader: Reader, query: EntriesQuery, signal: AbortSignal): Promise<Uint8Array> {
  const page = new EntryPage(reader, query);
  for await (const window of windowsOf(reader, query)) {
    if (await page.take(window)) return page.json(page.cursor());
    await nextTick();
    signal.throwIfAborted();
  }
  return page.json(null);
}

/** Entries of a stream with sequence numbers from `first` to `last`. */
interface Window {
  stream: StreamName;
  first: number;
  last: number;
}

/** Page of a list while it is being built. */
class EntryPage {
  readonly #reader: Reader;
  readonly #query: EntriesQuery;
  readonly #parts: Uint8Array[] = [];
  #count = 0;
  #bytes = 0;
  #last: [string, number] | null = null;

  constructor(reader: Reader, query: EntriesQuery) {
    this.#reader = reader;
    this.#query = query;
  }

  /** Adds the matching entries of a window while there is room. Returns true if some were left out. */
  async take({ stream, first, last }: Window): Promise<boolean> {
    const size = sql<number>`octet_length(metadata)`.as('size');
    const sized = this.#matching(stream, first, last).select(['sequence', size]).orderBy('sequence');
    const rows = await sized.limit(this.#query.limit - this.#count + 1).execute();
    const taken = rows.slice(0, this.#room(rows));
    const end = taken.at(-1);
    if (end !== undefined) {
      const entries = await entriesToJson(this.#reader, stream, this.#matching(stream, first, end.sequence));
      this.#parts.push(this.#count > 0 ? entries : entries.subarray(1));
      this.#count += taken.length;
      this.#last = [stream.stream_id, end.sequence];
    }
    return taken.length < rows.length;
  }

  /** @param cursor of the next page. */
  json(cursor: string | null): Uint8Array {
    const end = `],"next_cursor":${JSON.stringify(cursor)}}`;
    return Buffer.concat([Buffer.from('{"data":['), ...this.#parts, Buffer.from(end)]);
  }

  cursor(): string | null {
    return this.#last === null ? null : toCursor('entries', this.#last);
  }

  /** Returns the number of rows that still fit. */
  #room(rows: readonly { size: number }[]): number {
    let count = 0;
    for (const { size } of rows) {
      if (this.#count + count === this.#query.limit || this.#bytes >= ANSWER_BYTES) break;
      this.#bytes += size;
      count++;
    }
    return count;
  }

  #matching({ stream_no }: StreamName, first: number, last: number) {
    const entries = this.#reader.tables<AuditTables>().selectFrom('entries').where('stream_no', '=', stream_no);
    let select = entries.where('sequence', '>=', first).where('sequence', '<=', last);
    for (const column of FILTERS) {
      const value = this.#query[column];
      if (value !== undefined) select = select.where(column, '=', value);
    }
    // The concatenation keeps the database from choosing an index on these columns, whose results it would have to
    // sort.
    if (this.#query.from !== undefined) select = select.where(sql<boolean>`timestamp || '' >= ${this.#query.from}`);
    if (this.#query.to !== undefined) select = select.where(sql<boolean>`timestamp || '' < ${this.#query.to}`);
    return select;
  }
}

/** Yields the ranges that can contain matching entries, in order. */
async function* windowsOf(reader: Reader, query: EntriesQuery): AsyncGenerator<Window> {
  const after = startOf(query);
  for await (const stream of streamsFrom(reader, after.streamId, query.stream_id)) {
    const start = Math.max(stream.stream_id === after.streamId ? after.sequence : 0, query.after_sequence ?? 0);
    const range = await rangeOf(reader, stream, query);
    let first = range === null ? null : await nextEntry(reader, stream, Math.max(start + 1, range.first));
    while (range !== null && first !== null && first <= range.last) {
      const last = Math.min(first + WINDOW - 1, range.last);
      yield { stream, first, last };
      first = await nextEntry(reader, stream, last + 1);
    }
  }
}

function startOf({ cursor, stream_id }: EntriesQuery): { streamId: string; sequence: number } {
  if (cursor === undefined) return { streamId: stream_id ?? '', sequence: 0 };
  const [streamId, sequence] = fromCursor('entries', ['string', 'number'], cursor);
  if (stream_id !== undefined && stream_id !== streamId) throw invalidCursor();
  return { streamId, sequence };
}

/** Yields the streams of a list in order, starting with stream `from`. */
async function* streamsFrom(reader: Reader, from: string, only: string | undefined): AsyncGenerator<StreamName> {
  const streams = reader.tables<AuditTables>().selectFrom('streams').select(['stream_no', 'stream_id']);
  if (only !== undefined) {
    yield* await streams.where('stream_id', '=', only).execute();
    return;
  }
  yield* await streams.where('stream_id', '=', from).execute();
  const sorted = streams.orderBy('stream_id').limit(STREAMS);
  const later = (after: string) => sorted.where('stream_id', '>', after).execute();
  for await (const some of batches(from, ({ stream_id }) => stream_id, later)) yield* some;
}

/**
 * Returns a range of sequence numbers that contains a stream's entries in a period. The times of most streams never
 * decrease; an entry whose time was changed in the database is found at its place. A stream whose clock was corrected
 * is searched as a whole.
 */
async function rangeOf(
  reader: Reader,
  { stream_no }: StreamName,
  { from, to }: EntriesQuery,
): Promise<{ first: number; last: number } | null> {
  const all = reader.tables<AuditTables>().selectFrom('entries').select('sequence');
  const entries = all.where('stream_no', '=', stream_no);
  const corrected = entries.where(sql<boolean>`action = 'clock.corrected' AND resource_type = 'clock'`).limit(1);
  if ((await corrected.execute()).length > 0) return { first: 1, last: Number.MAX_SAFE_INTEGER };
  const end = (query: typeof entries, direction: 'asc' | 'desc') =>
    query.orderBy('timestamp', direction).orderBy('sequence', direction).limit(1).executeTakeFirst();
  const first = from === undefined ? { sequence: 1 } : await end(entries.where('timestamp', '>=', from), 'asc');
  const last = await end(to === undefined ? entries : entries.where('timestamp', '<', to), 'desc');
  return first === undefined || last === undefined ? null : { first: first.sequence, last: last.sequence };
}

/** Returns the first sequence number of a stream that is not below `from`; null if there is none. */
async function nextEntry(reader: Reader, { stream_no }: StreamName, from: number): Promise<number | null> {
  const entries = reader.tables<AuditTables>().selectFrom('entries').select('sequence');
  const next = entries.where('stream_no', '=', stream_no).where('sequence', '>=', from).orderBy('sequence');
  const row = await next.limit(1).executeTakeFirst();
  return row?.sequence ?? null;
}
