import type { Database } from '../database/database.ts';
import { lastChange } from './repository.ts';

/** Other processes may be so far ahead of what is said here. */
const LATE_MS = 250;

/** The number of the last change of any detection, read a few times a second however often it is asked for. */
export class DetectionsVersion {
  readonly #database: Database;
  #read: Promise<number> | null = null;
  #readAt = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  current(): Promise<number> {
    const now = performance.now();
    if (this.#read === null || now - this.#readAt > LATE_MS) {
      this.#readAt = now;
      this.#read = lastChange(this.#database);
      // A failed read is tried again.
      this.#read.catch(() => this.changed());
    }
    return this.#read;
  }

  /** It is another one since: this process changed something. */
  changed(): void {
    this.#read = null;
  }
}
