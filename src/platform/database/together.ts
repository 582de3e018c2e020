import { setImmediate } from 'node:timers/promises';
import type { Database, Transaction } from './database.ts';
import { outageIn } from './outage.ts';

/** Rules for requests that share a transaction, and for those that wait for each other. */
interface Sharing<Request> {
  /** Size at which a transaction accepts no further request. */
  most: number;
  /** Returns the size of a request. */
  sizeOf(request: Request): number;
  /**
   * Returns the locks of a request. Transactions with a common lock run one after the other; others may run in
   * parallel.
   */
  locksOf(request: Request): readonly string[];
}

/** Rules by which transactions run one after the other. */
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
 * Runs requests in transactions of one process. Requests that arrive together, or during a write, share a transaction,
 * because reaching the disk costs more than everything else. Each request is answered after its commit.
 */
export class Together<Request, Outcome> {
  readonly #database: Pick<Database, 'write' | 'writersAtOnce'>;
  readonly #carryOut: CarryOut<Request, Outcome>;
  readonly #sharing: Sharing<Request>;
  #waiting: Waiting<Request, Outcome>[] = [];
  /** Locks of running transactions. */
  readonly #held = new Set<string>();
  readonly #writes = new Set<Promise<void>>();
  #isBeginning = false;

  /** @param carryOut returns one outcome per request, in order. If it throws, each request is run alone. */
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

  /** Resolves when no request is waiting or being written. */
  async settled(): Promise<void> {
    while (this.#waiting.length > 0 || this.#writes.size > 0) {
      await Promise.all(this.#writes);
      await setImmediate();
    }
  }

  /** Starts transactions; requests that arrive in the same turn share one. */
  async #begin(): Promise<void> {
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    await setImmediate();
    this.#isBeginning = false;
    while (this.#writes.size < this.#database.writersAtOnce) {
      // Waits for a full group while others are being written, so that later requests can join.
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
   * Takes the first requests whose locks are free and not awaited by an earlier request.
   * @param onlyFull true to take none if more could join.
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
        // A free request that does not fit makes the group full.
        isFull ||= isFree;
        others.push(waiting);
        for (const lock of waiting.locks) closed.add(lock);
      }
    }
    if (onlyFull && !isFull) return [];
    this.#waiting = others;
    return together;
  }

  /** Holds the locks, because other requests of this process with the same locks would only wait in the database. */
  async #writeHolding(together: readonly Waiting<Request, Outcome>[]): Promise<void> {
    const locks = together.flatMap((waiting) => waiting.locks);
    for (const lock of locks) this.#held.add(lock);
    try {
      await this.#write(together);
    } finally {
      for (const lock of locks) this.#held.delete(lock);
    }
  }

  /** Runs the requests one by one if the group fails, because one of them may be the cause, except in an outage. */
  async #write(together: readonly Waiting<Request, Outcome>[]): Promise<void> {
    try {
      const requests = together.map(({ request }) => request);
      const outcomes = await this.#database.write((transaction) => this.#carryOut(transaction, requests));
      for (const [at, { resolve }] of together.entries()) resolve(outcomes[at] as Outcome);
    } catch (error) {
      if (together.length === 1 || outageIn(error) !== null) for (const { reject } of together) reject(error);
      else for (const waiting of together) await this.#write([waiting]);
    }
  }
}
