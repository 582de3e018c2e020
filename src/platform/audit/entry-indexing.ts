import type { Database } from '../database/database.ts';
import { type FailureListener, keepLooking, type Looking } from '../jobs/looking.ts';
import { addBlocks, type EntryBlock, nextBlocks } from './entry-index.ts';

interface IndexingDeps {
  database: Database;
  /** Reads blocks with their terms, apart from the thread that answers. */
  read(range: { first: number; last: number }): Promise<EntryBlock[]>;
}

/**
 * Adds blocks of entries to the index of lists, shortly after the entries. Each process does: blocks that another one
 * has added are skipped. Entries that are not in the index yet are found too, one by one.
 */
export class EntryIndexing {
  readonly #deps: IndexingDeps;
  #looking: Looking | null = null;
  #isStopped = false;

  constructor(deps: IndexingDeps) {
    this.#deps = deps;
  }

  start(listener: FailureListener): void {
    this.#looking = keepLooking(() => this.catchUp(), listener);
  }

  /** Adds all blocks that are complete. */
  async catchUp(): Promise<void> {
    const { database, read } = this.#deps;
    for (let range = await nextBlocks(database); range !== null && !this.#isStopped; range = await nextBlocks(database))
      await addBlocks(database, await read(range));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#looking?.stop();
  }
}
