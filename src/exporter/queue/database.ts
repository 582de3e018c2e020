import pg from 'pg';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import { wait } from '../../core/wait.ts';

/** Runs one statement with the values of `$1`, `$2`, …. */
export type RunStatement = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** Address and schema of the queue of distributed runs. */
export interface QueuePlace {
  /** Connection string `postgres://user:password@host:port/database`; a secret. */
  url: string;
  /** Schema of the tables. */
  schema: string;
}

interface Options extends QueuePlace {
  signal: AbortSignal;
  /** Receives a line when PostgreSQL becomes unavailable, and when it is available again. */
  note: (line: string) => void;
}

/** Maximum number of connections of one process. */
const CONNECTIONS = 8;
const CONNECT_MS = 10_000;
/** Timeout of a statement. The longest statement, `admit`, sleeps for less. */
const QUERY_MS = 120_000;
/** Idle time in a transaction after which the server ends the transaction, whose locks block all other workers. */
const IDLE_TRANSACTION = '15s';
/** Maximum downtime of a PostgreSQL server that has answered before, for a restart or a failover. */
const PATIENCE_MS = 600_000;
const RETRY_MS = 1000;

/**
 * SQLSTATE codes of a server that is shutting down, not yet ready, or has dropped a connection: class 08,
 * admin_shutdown, crash_shutdown, cannot_connect_now, idle_in_transaction_session_timeout. Also Node.js network errors.
 */
const AWAY = /^(08...|57P0[123]|25P03|ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
/** Messages of driver errors without a code. */
const AWAY_MESSAGE = /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/;
/** SQLSTATE codes: class 28 (authorization), class 3D (no such database), insufficient_privilege. */
const MISCONFIGURED = /^(28...|3D...|42501)$/;

/** PostgreSQL connections of the queue. Waits for a server that goes away, so that a restart does not fail a run. */
export class QueueDatabase {
  readonly schema: string;
  readonly #pool: pg.Pool;
  readonly #options: Options;
  readonly #host: string;
  #hasAnswered = false;
  #isAway = false;

  constructor(options: Options) {
    this.#options = options;
    this.schema = options.schema;
    this.#host = hostOf(options.url);
    this.#pool = new pg.Pool({
      connectionString: options.url,
      max: CONNECTIONS,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS,
      keepAlive: true,
      application_name: 'evidence',
    });
    // The pool replaces a broken idle connection; without a listener, its error would end the process.
    this.#pool.on('error', () => {});
  }

  /** @throws EvidenceError `config`, `unreachable`. */
  readonly query: RunStatement = async <Row>(text: string, values?: readonly unknown[]) =>
    (await this.execute(text, values)).rows as Row[];

  /**
   * Runs one statement, or several statements without values, as pg-boss requires. @throws EvidenceError as `query`
   * does.
   */
  execute(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    return this.#whileAway(() => this.#pool.query(text, [...values]));
  }

  /**
   * Runs statements in one transaction. They may be repeated after a lost connection, so they must be idempotent.
   * @throws EvidenceError as `query` does.
   */
  transaction<T>(work: (query: RunStatement) => Promise<T>): Promise<T> {
    return this.#whileAway(async () => {
      const client = await this.#pool.connect();
      // The pool's listener only covers idle connections.
      const onError = () => {};
      client.on('error', onError);
      let failure: unknown = null;
      try {
        await client.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = '${IDLE_TRANSACTION}'`);
        const query: RunStatement = async <Row>(text: string, values: readonly unknown[] = []) =>
          (await client.query(text, [...values])).rows as Row[];
        const result = await work(query);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        failure = error;
        throw error;
      } finally {
        client.off('error', onError);
        // Closes a connection that is in the middle of a transaction, which rolls the transaction back.
        client.release(failure !== null);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }

  async #whileAway<T>(attempt: () => Promise<T>): Promise<T> {
    const since = performance.now();
    for (;;) {
      try {
        const result = await attempt();
        this.#answered();
        return result;
      } catch (error) {
        if (!isServerAway(error)) throw this.#toError(error);
        const isPatient = this.#hasAnswered && performance.now() - since < PATIENCE_MS;
        if (!isPatient) throw this.#gone(error);
        if (!this.#isAway) this.#options.note(`${this.#host} does not answer (${messageOf(error)}); waiting for it`);
        this.#isAway = true;
        await wait(RETRY_MS, this.#options.signal);
      }
    }
  }

  #answered(): void {
    this.#hasAnswered = true;
    if (this.#isAway) this.#options.note(`${this.#host} answers again`);
    this.#isAway = false;
  }

  #gone(error: unknown): EvidenceError {
    return new EvidenceError('unreachable', `the queue at ${this.#host} does not answer: ${messageOf(error)}`, {
      nextStep: 'Archived bundles are kept. Check PostgreSQL, then run the same command again.',
      cause: error,
    });
  }

  #toError(error: unknown): unknown {
    const code = codeOf(error);
    if (code === null || !MISCONFIGURED.test(code)) return error;
    return new EvidenceError('config', `the queue at ${this.#host} refused the connection: ${messageOf(error)}`, {
      nextStep: `Check the user, password and database in EVIDENCE_QUEUE_URL. The user needs the schema ${this.schema} or permission to create it.`,
      cause: error,
    });
  }
}

/** Reports whether a driver error means that the server is unavailable. */
export function isServerAway(error: unknown): boolean {
  const code = codeOf(error);
  return code === null ? AWAY_MESSAGE.test(messageOf(error)) : AWAY.test(code);
}

function codeOf(error: unknown): string | null {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : null;
}

/** Returns the host of the address, which is not secret. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the address given';
}
