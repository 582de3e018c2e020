import { setImmediate } from 'node:timers/promises';
import type { Database, Transaction } from './database.ts';

/** The requests that may share a transaction, and those that have to wait for each other. */
interface Sharing<Request> {
  /** A transaction takes no further request once it has so many things to write. */
  most: number;
  /** Counts the things that a request writes. */
  sizeOf(request: Request): number;
  /** Names what a request locks. Transactions that lock the same follow each other; others may run side by side. */
  locksOf(request: Request): readonly string[];
}

/** One transaction after the other. */
const ONE_AT_A_TIME: Sharing<unknown> = { most: 500, sizeOf: () => 1, locksOf: () => [''] };

type CarryOut<Request, Outcome> = (
  transaction: Transaction,
  requests: readonly Request[],
) => Promise<readonly Outcome[]>;

interface Waiting<Request, Outcome> {
  request: Request;
  size: number;
  locks: readonly string[];
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/**
 * Carries out requests in transactions of one process. Requests that arrive together, or while others are written, share
 * a transaction, because reaching the disk costs more than everything else. Each is answered after its commit.
 */
export class Together<Request, Outcome> {
  readonly #database: Pick<Database, 'write' | 'writersAtOnce'>;
  readonly #carryOut: CarryOut<Request, Outcome>;
  readonly #sharing: Sharing<Request>;
  #waiting: Waiting<Request, Outcome>[] = [];
  /** The locks of transactions under way. */
  readonly #held = new Set<string>();
  readonly #writes = new Set<Promise<void>>();
  #isBeginning = false;

  /** @param carryOut answers one outcome for each request, in their order. Where it throws, each is carried out alone. */
  constructor(
    database: Pick<Database, 'write' | 'writersAtOnce'>,
    carryOut: CarryOut<Request, Outcome>,
    sharing: Sharing<Request> = ONE_AT_A_TIME,
  ) {
    this.#database = database;
    this.#carryOut = carryOut;
    this.#sharing = sharing;
  }

  do(request: Request): Promise<Outcome> {
    const { sizeOf, locksOf } = this.#sharing;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, size: sizeOf(request), locks: locksOf(request), resolve, reject });
      void this.#begin();
    });
  }

  /** Resolves when nothing waits and nothing is written. */
  async settled(): Promise<void> {
    while (this.#waiting.length > 0 || this.#writes.size > 0) {
      await Promise.all(this.#writes);
      await setImmediate();
    }
  }

  /** Those that arrive in the same turn share a transaction. */
  async #begin(): Promise<void> {
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    await setImmediate();
    this.#isBeginning = false;
    while (this.#writes.size < this.#database.writersAtOnce) {
      // A few requests are better joined by those that come while others are written.
      const together = this.#take(this.#writes.size > 0);
      if (together.length === 0) return;
      const write = this.#writeHolding(together).finally(() => {
        this.#writes.delete(write);
        void this.#begin();
      });
      this.#writes.add(write);
    }
  }

  /**
   * Takes the first that wait for nothing that is held, nor for what somebody before them waits for.
   * @param onlyFull true to take none where more could join.
   */
  #take(onlyFull: boolean): Waiting<Request, Outcome>[] {
    const together: Waiting<Request, Outcome>[] = [];
    const others: Waiting<Request, Outcome>[] = [];
    const closed = new Set(this.#held);
    let size = 0;
    let isFull = false;
    for (const waiting of this.#waiting) {
      const isFree: boolean = !isFull && !waiting.locks.some((lock) => closed.has(lock));
      if (isFree && (together.length === 0 || size + waiting.size <= this.#sharing.most)) {
        together.push(waiting);
        size += waiting.size;
        isFull = size >= this.#sharing.most;
      } else {
        // A free one for which there is no room.
        isFull ||= isFree;
        others.push(waiting);
        for (const lock of waiting.locks) closed.add(lock);
      }
    }
    if (onlyFull && !isFull) return [];
    this.#waiting = others;
    return together;
  }

  /** Nobody else of this process locks the same meanwhile: they would only wait for each other. */
  async #writeHolding(together: readonly Waiting<Request, Outcome>[]): Promise<void> {
    const locks = together.flatMap((waiting) => waiting.locks);
    for (const lock of locks) this.#held.add(lock);
    try {
      await this.#write(together);
    } finally {
      for (const lock of locks) this.#held.delete(lock);
    }
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
