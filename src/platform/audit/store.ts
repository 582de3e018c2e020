import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { EntryRow } from '../store/schema.ts';

/** Rows read without giving way to other requests. */
const PAGE_ROWS = 500;

/** Metadata characters after which a page ends early: a row may be as large as a request. */
const PAGE_CHARACTERS = 2 ** 22;

/** Reads entries of one stream in the order of the chain, page by page: in bounded memory, and never long at a time. */
export class EntryPages {
  readonly #page: StatementSync;

  constructor(database: DatabaseSync) {
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
