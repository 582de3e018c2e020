import type { Database } from '../database/database.ts';
import { Together } from '../database/together.ts';
import { type AppendDeps, type Appended, type AppendOutcome, type AppendRequest, appendAll } from './append.ts';

/**
 * Requests stop joining a transaction at this many entries, so that the first of them does not wait for long, and
 * neither does who connects meanwhile.
 */
const MAX_COMMIT_ENTRIES = 200;

/** Appends what requests bring. Requests that arrive together share a transaction; those of one stream wait for each other. */
export class Appender {
  readonly #together: Together<AppendRequest, AppendOutcome>;
  /** Counts since this process began: requests, and entries that were not there before. */
  readonly done = { requests: 0, entries: 0 };

  constructor(database: Database, deps: AppendDeps) {
    this.#together = new Together(database, (transaction, requests) => appendAll(transaction, deps, requests), {
      most: MAX_COMMIT_ENTRIES,
      sizeOf: ({ entries }) => entries.length,
      locksOf: ({ entries }) => [...new Set(entries.map(({ stream_id }) => stream_id))],
    });
  }

  /**
   * Appends the entries of a request to the heads of their streams, in order.
   * @throws DomainError `idempotency_conflict`, `clock_behind`, `stream_damaged`.
   */
  async append(request: AppendRequest): Promise<Appended[]> {
    const outcome = await this.#together.do(request);
    if ('refused' in outcome) throw outcome.refused;
    this.done.requests++;
    this.done.entries += outcome.appended.filter(({ repeated }) => !repeated).length;
    return outcome.appended;
  }

  /** Resolves when nothing waits and nothing is written. */
  settled(): Promise<void> {
    return this.#together.settled();
  }
}
