import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { EntryRow } from '../store/schema.ts';

/** Rows read without giving way to other requests. */
const PAGE_ROWS = 500;

/** Metadata characters after which a page ends early: a row may be as large as a request. */
const PAGE_CHARACTERS = 2 ** 22;

/** Rows counted without giving way to other requests. */
const COUNTED_ROWS = 5000;

/** Entries that have the same in these columns. */
export type EntryCount = Pick<EntryRow, 'actor' | 'action' | 'resource_type'> & { count: number };

/**
 * `entryToJson` as an expression over the columns: made by SQLite, whose `json_quote` escapes what JSON.stringify does,
 * a page costs a fifth of what it costs to make objects of its rows and texts of the objects.
 */
export const ENTRY_JSON = `concat('{"entry_id":', json_quote(entry_id), ',"stream_id":', json_quote(stream_id),
  ',"sequence":', sequence, ',"timestamp":', json_quote(timestamp),
  iif(occurred_at IS NULL, '', concat(',"occurred_at":', json_quote(occurred_at))),
  ',"actor":', json_quote(actor), ',"action":', json_quote(action),
  ',"resource_type":', json_quote(resource_type), ',"resource_id":', json_quote(resource_id),
  ',"metadata":', metadata, ',"prev_hash":"', prev_hash, '","seal_key_id":', json_quote(seal_key_id),
  ',"hash":"', hash, '","seal":"', seal, '"}')`;

/** The texts of a column in the order of the rows, separated by commas, in UTF-8. */
export function joined(column: string): string {
  return `CAST(group_concat(${column}, ',') AS BLOB)`;
}

/** Reads entries of one stream in the order of the chain, page by page: in bounded memory, and never long at a time. */
export class EntryPages {
  readonly #page: StatementSync;
  readonly #extent: StatementSync;
  readonly #json: StatementSync;
  readonly #counts: StatementSync;

  constructor(database: DatabaseSync) {
    const range = 'FROM entries WHERE stream_id = ? AND sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?';
    this.#extent = database.prepare(
      `SELECT max(sequence) AS last, sum(size) AS size FROM (SELECT sequence, octet_length(metadata) AS size ${range})`,
    );
    this.#json = database.prepare(`SELECT ${joined('json')} AS text FROM (SELECT ${ENTRY_JSON} AS json ${range})`);
    this.#counts = database.prepare(
      `SELECT max(sequence) AS last, actor, action, resource_type, count(*) AS count
       FROM (SELECT sequence, actor, action, resource_type ${range}) GROUP BY actor, action, resource_type`,
    );
    this.#page = database.prepare(
      `SELECT entry_id, stream_id, sequence, timestamp, occurred_at, actor, action, resource_type, resource_id,
         metadata, prev_hash, seal_key_id, hash, seal
       FROM entries WHERE stream_id = ? AND sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?`,
    );
  }

  /** The entries of a stream with sequence numbers from `first` to `last`, both included; pages are never empty. */
  async *between(streamId: string, first: number, last: number): AsyncGenerator<EntryRow[]> {
    let from = first;
    while (from <= last) {
      const page = takePage(this.#page.iterate(streamId, from, last, PAGE_ROWS));
      const end = page.at(-1);
      if (end === undefined) return;
      yield page;
      from = end.sequence + 1;
      await nextTick();
    }
  }

  /** The same entries as JSON text, those of a page separated by commas. */
  async *json(streamId: string, first: number, last: number): AsyncGenerator<Uint8Array> {
    let from = first;
    while (from <= last) {
      const end = this.#endOfPage(streamId, from, last);
      if (end === null) return;
      yield this.#json.get(streamId, from, end, PAGE_ROWS)?.['text'] as Uint8Array;
      from = end + 1;
      await nextTick();
    }
  }

  /** How many of the same entries there are of each kind, in parts: a kind may come more than once. */
  async *counts(streamId: string, first: number, last: number): AsyncGenerator<EntryCount> {
    let from = first;
    while (from <= last) {
      const kinds = this.#counts.all(streamId, from, last, COUNTED_ROWS) as unknown as (EntryCount & {
        last: number;
      })[];
      if (kinds.length === 0) return;
      yield* kinds;
      from = Math.max(...kinds.map((kind) => kind.last)) + 1;
      await nextTick();
    }
  }

  /** The entries with these very numbers. */
  ends(streamId: string, { first, last }: { first: number; last: number }): { first: EntryRow; last: EntryRow } {
    const [row, end] = [first, last].map((sequence) => this.#page.get(streamId, sequence, sequence, 1));
    return { first: row as unknown as EntryRow, last: end as unknown as EntryRow };
  }

  /** The last entry of as many as fit a page; null where there are none. */
  #endOfPage(streamId: string, first: number, last: number): number | null {
    for (let rows = PAGE_ROWS; ; rows = Math.ceil(rows / 2)) {
      const extent = this.#extent.get(streamId, first, last, rows) as { last: number | null; size: number | null };
      if (rows === 1 || (extent.size ?? 0) <= PAGE_CHARACTERS) return extent.last;
    }
  }
}

/** As many rows as fit a page; at least one, if there is one. */
function takePage(rows: Iterable<unknown>): EntryRow[] {
  const page: EntryRow[] = [];
  let characters = 0;
  for (const row of rows) {
    const entry = row as EntryRow;
    page.push(entry);
    characters += entry.metadata.length;
    if (characters >= PAGE_CHARACTERS) break;
  }
  return page;
}
