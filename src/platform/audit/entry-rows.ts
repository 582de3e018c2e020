import { setImmediate as nextTick } from 'node:timers/promises';
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Reader } from '../database/database.ts';
import { ENTRY_COLUMNS, type EntryRow } from './repository.ts';
import type { AuditTables } from './tables.ts';

/** Number of rows read without yielding to other requests. */
const PAGE_ROWS = 500;

/** Bytes of metadata after which a page ends early: a row may be as large as a request. */
const PAGE_BYTES = 2 ** 22;

/** Number of rows counted without yielding to other requests. */
const COUNTED_ROWS = 5000;

const CHECKED_COLUMNS = [
  'sequence',
  'timestamp',
  'action',
  'resource_type',
  'prev_hash',
  'seal_key_id',
  'hash',
  'seal',
] as const satisfies readonly (keyof EntryRow)[];

/** Number of entries with the same values in these columns. */
export type EntryCount = Pick<EntryRow, 'actor' | 'action' | 'resource_type'> & { count: number };

/** Columns of an entry that a check needs. */
export type EntryToCheck = Pick<EntryRow, (typeof CHECKED_COLUMNS)[number]> & {
  /** Number in the order in which the entries of all streams were recorded. */
  recorded: number;
  /** Result of `entryText`. */
  content: string;
};

/** Stream by its number in rows and by its public id. */
export interface StreamName {
  stream_no: number;
  stream_id: string;
}

/**
 * Returns SQL for a comma and the result of `entryToJson`, from the columns and the stream's id. A page that the
 * database renders costs a fifth of a page whose rows become objects and then text.
 */
function entryJson({ sql: dialect }: Reader, streamId: RawBuilder<string>): RawBuilder<string> {
  const text = (column: string) => dialect.json(sql.ref<string>(column));
  return sql`concat(',{"entry_id":', ${text('entry_id')}, ',"stream_id":', ${dialect.json(streamId)},
    ',"sequence":', sequence, ',"timestamp":', ${text('timestamp')},
    CASE WHEN occurred_at IS NULL THEN '' ELSE concat(',"occurred_at":', ${text('occurred_at')}) END,
    ',"actor":', ${text('actor')}, ',"action":', ${text('action')},
    ',"resource_type":', ${text('resource_type')}, ',"resource_id":', ${text('resource_id')},
    ',"recorded_by":', ${text('recorded_by')}, ',"metadata":', metadata, ',"prev_hash":"', prev_hash, '","seal_key_id":', ${text('seal_key_id')},
    ',"hash":"', hash, '","seal":"', seal, '"}')`;
}

/** Returns entries by their numbers `recorded` as JSON texts, sorted by a column. */
export async function entriesByNumber(
  reader: Reader,
  numbers: readonly number[],
  column: 'recorded' | 'sequence',
  direction: 'asc' | 'desc',
): Promise<string[]> {
  const json = entryJson(reader, sql.ref('stream_id'));
  const source = reader.sql.inRanges({ table: 'entries', column: 'recorded' }, numbers, 1);
  const { rows } = await sql<{ json: string }>`SELECT ${json} AS json FROM ${source}
    JOIN streams ON streams.stream_no = entries.stream_no
    ORDER BY ${sql.ref(column)} ${sql.raw(direction)}`.execute(reader.tables());
  return rows.map(({ json: text }) => text.slice(1));
}

/** Returns the entries of one stream that a query selects as JSON text, each preceded by a comma. */
export async function entriesToJson(
  reader: Reader,
  { stream_id }: StreamName,
  entries: SelectQueryBuilder<AuditTables, 'entries', object>,
): Promise<Uint8Array> {
  const json = entryJson(reader, sql`CAST(${stream_id} AS text)`);
  const page = entries.select(['sequence', json.as('json')]).orderBy('sequence');
  const text = reader.sql.joined(sql.ref<string>('json'), 'sequence').as('text');
  const all = reader.tables<AuditTables>().selectFrom(page.as('page')).select(text);
  return (await all.executeTakeFirstOrThrow()).text;
}

/**
 * Returns `entryText` as an SQL expression over the columns; a check then takes half the time of reading all columns.
 */
function entryContent({ sql: dialect }: Reader, streamId: string): RawBuilder<string> {
  const text = (column: string) => dialect.json(sql.ref<string>(column));
  return sql`concat('{"action":', ${text('action')}, ',"actor":', ${text('actor')}, ',"entry_id":', ${text('entry_id')},
    ',"metadata":', metadata,
    CASE WHEN occurred_at IS NULL THEN '' ELSE concat(',"occurred_at":', ${text('occurred_at')}) END,
    ',"prev_hash":"', prev_hash, '","recorded_by":', ${text('recorded_by')}, ',"resource_id":', ${text('resource_id')},
    ',"resource_type":', ${text('resource_type')}, ',"seal_key_id":', ${text('seal_key_id')},
    ',"sequence":', sequence, CAST(${`,"stream_id":${JSON.stringify(streamId)}`} AS text),
    ',"timestamp":', ${text('timestamp')}, '}')`;
}

/** Reads the entries of one stream in chain order, page by page, in bounded memory and with short queries. */
export class EntryPages {
  readonly #reader: Reader;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Yields the entries of a stream from sequence `first` to `last`, inclusive; pages are never empty. */
  async *between(stream: StreamName, first: number, last: number): AsyncGenerator<EntryRow[]> {
    for await (const [from, to] of this.#pages(stream, first, last)) {
      yield await this.#rows(stream, from, to).orderBy('sequence').execute();
    }
  }

  /** Yields the same entries with the columns that a check needs. */
  async *toCheck(stream: StreamName, first: number, last: number): AsyncGenerator<EntryToCheck[]> {
    const content = entryContent(this.#reader, stream.stream_id).as('content');
    for await (const [from, to] of this.#pages(stream, first, last)) {
      const rows = this.#within(stream, from, to).select(['recorded', ...CHECKED_COLUMNS, content]);
      yield await rows.orderBy('sequence').execute();
    }
  }

  /** Yields the same entries as JSON text, each preceded by a comma. */
  async *json(stream: StreamName, first: number, last: number): AsyncGenerator<Uint8Array> {
    for await (const [from, to] of this.#pages(stream, first, last))
      yield await entriesToJson(this.#reader, stream, this.#within(stream, from, to));
  }

  /** Counts the same entries by kind, in parts; a kind may occur more than once. */
  async *counts(stream: StreamName, first: number, last: number): AsyncGenerator<EntryCount> {
    let from = first;
    while (from <= last) {
      const rows = this.#within(stream, from, last)
        .select(['sequence', 'actor', 'action', 'resource_type'])
        .orderBy('sequence')
        .limit(COUNTED_ROWS);
      const kinds = await this.#tables
        .selectFrom(rows.as('part'))
        .select(({ fn }) => [
          fn.max('sequence').as('last'),
          'actor',
          'action',
          'resource_type',
          fn.countAll<number>().as('count'),
        ])
        .groupBy(['actor', 'action', 'resource_type'])
        .execute();
      if (kinds.length === 0) return;
      yield* kinds;
      from = Math.max(...kinds.map((kind) => kind.last)) + 1;
      await nextTick();
    }
  }

  /** Returns the entry with this sequence number. */
  one(stream: StreamName, sequence: number): Promise<EntryRow> {
    return this.#rows(stream, sequence, sequence).executeTakeFirstOrThrow();
  }

  /** Yields the first and last sequence number of each page. */
  async *#pages(stream: StreamName, first: number, last: number): AsyncGenerator<[number, number]> {
    let from = first;
    while (from <= last) {
      const end = await this.#endOfPage(stream, from, last);
      if (end === null) return;
      yield [from, end];
      from = end + 1;
      await nextTick();
    }
  }

  /** Returns the last sequence number that fits in a page; null if there are no entries. */
  async #endOfPage(stream: StreamName, first: number, last: number): Promise<number | null> {
    for (let limit = PAGE_ROWS; ; limit = Math.ceil(limit / 2)) {
      const rows = this.#within(stream, first, last)
        .select(['sequence', sql<number>`octet_length(metadata)`.as('size')])
        .orderBy('sequence')
        .limit(limit);
      const extent = await this.#tables
        .selectFrom(rows.as('page'))
        .select(({ fn }) => [fn.max<number | null>('sequence').as('last'), fn.sum<number | null>('size').as('size')])
        .executeTakeFirstOrThrow();
      if (limit === 1 || Number(extent.size ?? 0) <= PAGE_BYTES) return extent.last;
    }
  }

  #rows(stream: StreamName, first: number, last: number) {
    const streamId = sql<string>`CAST(${stream.stream_id} AS text)`.as('stream_id');
    return this.#within(stream, first, last).select([...ENTRY_COLUMNS, streamId]);
  }

  #within({ stream_no }: StreamName, first: number, last: number) {
    const entries = this.#tables.selectFrom('entries').where('stream_no', '=', stream_no);
    return entries.where('sequence', '>=', first).where('sequence', '<=', last);
  }

  get #tables() {
    return this.#reader.tables<AuditTables>();
  }
}
