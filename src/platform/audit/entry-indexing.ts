import type { Database } from '../database/database.ts';
import { type FailureListener, keepLooking, type Looking } from '../jobs/looking.ts';
import { addZone, type EntryZone, nextZone } from './entry-index.ts';

interface IndexingDeps {
  database: Database;
  /** Reads a zone with its terms, apart from the thread that answers. */
  read(zone: number): Promise<EntryZone>;
}

/**
 * Adds zones of entries to the index of lists, shortly after the entries. Each process does: zones that another one
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

  /** Adds all zones that are complete. */
  async catchUp(): Promise<void> {
    const { database, read } = this.#deps;
    for (let zone = await nextZone(database); zone !== null && !this.#isStopped; zone = await nextZone(database))
      await addZone(database, await read(zone));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#looking?.stop();
  }
}
