import type { Database } from '../database/database.ts';
import { Together } from '../database/together.ts';
import { type AppendDeps, type Appended, type AppendOutcome, type AppendRequest, appendAll } from './append.ts';

/**
 * Number of entries at which a transaction stops accepting requests, so that neither the first request nor new
 * connections wait long.
 */
const MAX_COMMIT_ENTRIES = 200;

/**
 * Appends the entries of requests. Requests that arrive together share a transaction; requests to one stream wait for
 * each other.
 */
export class Appender {
  readonly #together: Together<AppendRequest, AppendOutcome>;
  readonly #admit: () => void;
  /** Counts since the start of the process: requests, and entries that were new. */
  readonly done = { requests: 0, entries: 0 };

  /** @param admit throws if no request can be recorded now. */
  constructor(database: Database, deps: AppendDeps, admit: () => void = () => {}) {
    this.#admit = admit;
    this.#together = new Together(database, (transaction, requests) => appendAll(transaction, deps, requests), {
      most: MAX_COMMIT_ENTRIES,
      sizeOf: ({ entries }) => entries.length,
      locksOf: ({ entries }) => [...new Set(entries.map(({ stream_id }) => stream_id))],
    });
  }

  /**
   * Appends the entries of a request to the heads of their streams, in order.
   * @throws DomainError `idempotency_conflict`, `stream_damaged`; as `admit` does.
   */
  async append(request: AppendRequest): Promise<Appended[]> {
    this.#admit();
    const outcome = await this.#together.do(request);
    if ('refused' in outcome) throw outcome.refused;
    this.done.requests++;
    this.done.entries += outcome.appended.filter(({ repeated }) => !repeated).length;
    return outcome.appended;
  }

  /** Resolves when no request is waiting or being written. */
  settled(): Promise<void> {
    return this.#together.settled();
  }
}
