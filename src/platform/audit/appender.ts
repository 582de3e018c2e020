import { setImmediate } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import { type AppendDeps, type Appended, type AppendOutcome, type AppendRequest, appendAll } from './append.ts';

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
  readonly #deps: AppendDeps;
  readonly #waiting: Waiting[] = [];
  /** Streams that are written to. */
  readonly #busy = new Set<string>();
  readonly #commits = new Set<Promise<void>>();
  #isBeginning = false;
  /** Counts since this process began: requests, and entries that were not there before. */
  readonly done = { requests: 0, entries: 0 };

  constructor(database: Database, deps: AppendDeps) {
    this.#database = database;
    this.#deps = deps;
  }

  /**
   * Appends the entries of a request to the heads of their streams, in order.
   * @throws DomainError `idempotency_conflict`, `clock_behind`, `stream_damaged`.
   */
  append(request: AppendRequest): Promise<Appended[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      void this.#begin();
    });
  }

  /** Resolves when nothing waits and nothing is written. */
  async settled(): Promise<void> {
    while (this.#waiting.length > 0 || this.#commits.size > 0) {
      await Promise.all(this.#commits);
      await setImmediate();
    }
  }

  /** Those that arrive in the same turn share a transaction. */
  async #begin(): Promise<void> {
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    await setImmediate();
    this.#isBeginning = false;
    while (this.#commits.size < this.#database.writersAtOnce) {
      // Few entries are better joined by those that come while others are written.
      const group = this.#takeGroup(this.#commits.size > 0);
      if (group.length === 0) return;
      const commit = this.#commitAlone(group).finally(() => {
        this.#commits.delete(commit);
        void this.#begin();
      });
      this.#commits.add(commit);
    }
  }

  /** Nobody else of this process writes to its streams meanwhile: they would only wait for each other. */
  async #commitAlone(group: readonly Waiting[]): Promise<void> {
    const streams = group.flatMap(streamsOf);
    for (const stream of streams) this.#busy.add(stream);
    try {
      await this.#commit(group);
    } finally {
      for (const stream of streams) this.#busy.delete(stream);
    }
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
    return this.#database.write((transaction) => appendAll(transaction, this.#deps, requests));
  }

  /**
   * The first that wait for no stream that is written to, nor for one that somebody before them waits for.
   * @param onlyFull whether none is taken where more could join.
   */
  #takeGroup(onlyFull: boolean): Waiting[] {
    const group: Waiting[] = [];
    const taken = new Set(this.#busy);
    let entries = 0;
    let isFull = false;
    for (const waiting of this.#waiting) {
      const streams = streamsOf(waiting);
      if (streams.some((stream) => taken.has(stream))) {
        for (const stream of streams) taken.add(stream);
        continue;
      }
      const count = waiting.request.entries.length;
      isFull = entries + count >= MAX_COMMIT_ENTRIES;
      if (group.length > 0 && entries + count > MAX_COMMIT_ENTRIES) break;
      entries += count;
      group.push(waiting);
    }
    if (onlyFull && !isFull) return [];
    for (const waiting of group) this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    return group;
  }
}

function streamsOf({ request }: Waiting): string[] {
  return [...new Set(request.entries.map((entry) => entry.stream_id))];
}

function settle(group: readonly Waiting[], outcomes: readonly AppendOutcome[]): void {
  for (const [at, outcome] of outcomes.entries()) {
    if ('appended' in outcome) group[at]?.resolve(outcome.appended);
    else group[at]?.reject(outcome.refused);
  }
}
