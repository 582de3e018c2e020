import type { ReadableDatabase } from '../database/database.ts';
import { headsFit } from './head-sum-rows.ts';
import type { RowSeals } from './sealed-rows.ts';

/**
 * Checks whether the heads of all streams fit their sum. Requests share a check that begins after all of them, so that no
 * result is older than its request.
 */
export class HeadsCheck {
  readonly #database: ReadableDatabase;
  readonly #seals: RowSeals;
  #running: Promise<unknown> = Promise.resolve();
  /** Check that begins when the running one ends. */
  #next: Promise<boolean> | null = null;

  constructor(database: ReadableDatabase, seals: RowSeals) {
    this.#database = database;
    this.#seals = seals;
  }

  fit(): Promise<boolean> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<boolean> {
    await this.#running;
    this.#next = null;
    const check = this.#database.snapshot((reader) => headsFit(reader, this.#seals));
    this.#running = check.catch(() => {});
    return check;
  }
}
