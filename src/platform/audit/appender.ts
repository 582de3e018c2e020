import type { Database } from '../database/database.ts';
import { type Appended, type AppendMeans, type AppendOutcome, type AppendRequest, appendAll } from './append.ts';

interface Waiting {
  request: AppendRequest;
  resolve(appended: Appended[]): void;
  reject(error: unknown): void;
}

/**
 * Requests stop joining a transaction at this many entries, so that the first of them does not wait for long, and
 * neither does who connects meanwhile.
 */
const MAX_COMMIT_ENTRIES = 200;

/**
 * Requests that arrive while others wait share a transaction, because reaching the disk costs more than everything
 * else. A request is acknowledged after its commit.
 */
export class Appender {
  readonly #database: Database;
  readonly #means: AppendMeans;
  readonly #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;
  /** What was appended since this process began: requests, and entries that were not there before. */
  readonly done = { requests: 0, entries: 0 };

  constructor(database: Database, means: AppendMeans) {
    this.#database = database;
    this.#means = means;
  }

  /**
   * Appends the entries of a request to the heads of their streams, in order.
   * @throws DomainError `idempotency_conflict`, `clock_behind`, `stream_damaged`.
   */
  append(request: AppendRequest): Promise<Appended[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    do {
      // Those that arrive in the same turn join the first.
      await new Promise((resolve) => setImmediate(resolve));
      await this.#commit(this.#takeGroup());
    } while (this.#waiting.length > 0);
    this.#running = null;
  }

  /** One by one where together they fail: one of them may be why. */
  async #commit(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#write(group);
      for (const outcome of outcomes) this.#count(outcome);
      settle(group, outcomes);
    } catch (error) {
      const [only] = group;
      if (group.length === 1) only?.reject(error);
      else for (const waiting of group) await this.#commit([waiting]);
    }
  }

  #count(outcome: AppendOutcome): void {
    if (!('appended' in outcome)) return;
    this.done.requests++;
    for (const { repeated } of outcome.appended) if (!repeated) this.done.entries++;
  }

  #write(group: readonly Waiting[]): Promise<AppendOutcome[]> {
    const requests = group.map(({ request }) => request);
    return this.#database.write((transaction) => appendAll(transaction, this.#means, requests));
  }

  #takeGroup(): Waiting[] {
    let entries = 0;
    let requests = 0;
    for (const { request } of this.#waiting) {
      entries += request.entries.length;
      if (requests > 0 && entries > MAX_COMMIT_ENTRIES) break;
      requests++;
    }
    return this.#waiting.splice(0, requests);
  }
}

function settle(group: readonly Waiting[], outcomes: readonly AppendOutcome[]): void {
  for (const [at, outcome] of outcomes.entries()) {
    if ('appended' in outcome) group[at]?.resolve(outcome.appended);
    else group[at]?.reject(outcome.refused);
  }
}
