import { EvidenceError } from '../../core/errors.ts';
import { wait } from '../../core/wait.ts';
import type { SharedRate } from '../client/rate.ts';
import type { QueueDatabase } from './database.ts';

/** SQLSTATE raised if another process held the rate's row beyond the lock timeout; the request is then repeated. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Token bucket shared by all processes of one queue and stored in the database. It holds a single token. */
export class DatabaseRate implements SharedRate {
  readonly #db: Pick<QueueDatabase, 'query' | 'schema'>;
  readonly #signal: AbortSignal;
  /** Pauses that are being stored. */
  #pausing: Promise<unknown> = Promise.resolve();

  constructor(db: Pick<QueueDatabase, 'query' | 'schema'>, signal: AbortSignal) {
    this.#db = db;
    this.#signal = signal;
  }

  async admit(origin: string, requestsPerSecond: number): Promise<void> {
    await this.#pausing;
    for (;;) {
      this.#signal.throwIfAborted();
      const seconds = await this.#ask(origin, 1 / requestsPerSecond);
      if (seconds <= 0) return;
      await wait(seconds * 1000, this.#signal);
    }
  }

  pause(origin: string, milliseconds: number): void {
    const { schema, query } = this.#db;
    const text = `UPDATE ${schema}.rates SET paused_until = greatest(paused_until, clock_timestamp() + $2 * interval '1 millisecond') WHERE origin = $1`;
    // If this fails, the next call of `admit` fails too and reports it.
    const pausing = query(text, [origin, milliseconds]).catch(() => {});
    this.#pausing = Promise.all([this.#pausing, pausing]);
  }

  async #ask(origin: string, spacing: number): Promise<number> {
    try {
      const [row] = await this.#db.query<{ seconds: number }>(`SELECT ${this.#db.schema}.admit($1, $2) AS seconds`, [
        origin,
        spacing,
      ]);
      return row?.seconds ?? 0;
    } catch (error) {
      if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return this.#ask(origin, spacing);
      this.#signal.throwIfAborted();
      if (error instanceof EvidenceError) throw error;
      throw new EvidenceError('unreachable', `the request rate to ${origin} cannot be enforced: ${String(error)}`);
    }
  }
}
