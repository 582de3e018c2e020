import type { ReadableDatabase } from '../database/database.ts';
import { headsFit } from './head-sum-rows.ts';
import type { RowSeals } from './sealed-rows.ts';

/** Time between two checks, as a multiple of the duration of the earlier one. */
const REST = 20;

/**
 * Checks whether the heads of all streams fit their sum. Reading all heads for each of many streams would take longer
 * than checking the streams, so a result is used again for a while that grows with the number of streams: with 5,000
 * streams, it is a fraction of a second.
 */
export class HeadsCheck {
  readonly #database: ReadableDatabase;
  readonly #seals: RowSeals;
  #result: Promise<boolean> | null = null;
  #until = 0;

  constructor(database: ReadableDatabase, seals: RowSeals) {
    this.#database = database;
    this.#seals = seals;
  }

  fit(): Promise<boolean> {
    if (this.#result !== null && performance.now() < this.#until) return this.#result;
    this.#until = Number.POSITIVE_INFINITY;
    const begun = performance.now();
    this.#result = this.#database
      .snapshot((reader) => headsFit(reader, this.#seals))
      .finally(() => {
        const now = performance.now();
        this.#until = now + REST * (now - begun);
      });
    this.#result.catch(() => {
      this.#until = 0;
    });
    return this.#result;
  }
}
