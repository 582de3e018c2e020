import { setImmediate } from 'node:timers/promises';
import type { Database, Transaction } from './database.ts';

/** Requests that share a transaction. */
const MOST_TOGETHER = 500;

interface Waiting<Request, Outcome> {
  request: Request;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/**
 * Carries out requests in transactions of one process, one after the other. Requests that arrive while others are written
 * share a transaction; each is answered after its commit.
 */
export class Together<Request, Outcome> {
  readonly #database: Pick<Database, 'write'>;
  readonly #carryOut: (transaction: Transaction, requests: readonly Request[]) => Promise<readonly Outcome[]>;
  #waiting: Waiting<Request, Outcome>[] = [];
  #writing: Promise<void> | null = null;

  /** @param carryOut answers one outcome for each request, in their order. Where it throws, each is carried out alone. */
  constructor(
    database: Pick<Database, 'write'>,
    carryOut: (transaction: Transaction, requests: readonly Request[]) => Promise<readonly Outcome[]>,
  ) {
    this.#database = database;
    this.#carryOut = carryOut;
  }

  do(request: Request): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Resolves when nothing waits and nothing is written. */
  async settled(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  async #writeAll(): Promise<void> {
    await setImmediate();
    while (this.#waiting.length > 0) {
      const together = this.#waiting.slice(0, MOST_TOGETHER);
      this.#waiting = this.#waiting.slice(MOST_TOGETHER);
      await this.#write(together);
    }
    // In the same turn as the last look: whoever comes now begins anew.
    this.#writing = null;
  }

  /** One by one where together they fail: one of them may be why. */
  async #write(together: readonly Waiting<Request, Outcome>[]): Promise<void> {
    try {
      const requests = together.map(({ request }) => request);
      const outcomes = await this.#database.write((transaction) => this.#carryOut(transaction, requests));
      for (const [at, { resolve }] of together.entries()) resolve(outcomes[at] as Outcome);
    } catch (error) {
      const [only] = together;
      if (together.length === 1) only?.reject(error);
      else for (const waiting of together) await this.#write([waiting]);
    }
  }
}
