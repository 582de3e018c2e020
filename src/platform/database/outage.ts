/** Condition in which a database carries out no statement, or no write, whatever the request. */
export const OUTAGES = {
  /** Database that does not answer, or that ended the connection. */
  unreachable: 'the database does not answer',
  /** Database that accepts no writes, such as a standby. */
  read_only: 'the database accepts no writes',
  full: 'the disk of the database is full',
} as const;
export type Outage = keyof typeof OUTAGES;

/** Error of a statement that failed because of an outage. The caller may repeat the request later. */
export class OutageError extends Error {
  readonly outage: Outage;

  constructor(outage: Outage, cause: unknown) {
    super(OUTAGES[outage], { cause });
    this.name = 'OutageError';
    this.outage = outage;
  }
}

/** Returns the outage that an error reports, directly or as its cause, even if it crossed threads; null for others. */
export function outageIn(error: unknown): Outage | null {
  if (!(error instanceof Error)) return null;
  if (error.name === 'OutageError') return (error as OutageError).outage;
  return outageIn(error.cause);
}

/** Returns the error at the end of a chain of causes; of attempts at each address of a host, that of the first. */
export function firstCause(error: unknown): unknown {
  const { cause = error instanceof AggregateError ? error.errors[0] : undefined } = error as { cause?: unknown };
  return cause === undefined ? error : firstCause(cause);
}

/** Returns an OutageError for an error that a driver throws because of an outage, and any other error itself. */
export function asOutage(error: unknown): unknown {
  const outage = outageOf(error);
  return outage === null ? error : new OutageError(outage, error);
}

/** Memory of whether an outage prevented the last write of this process. */
export class OutageMemory {
  #outage: Outage | null = null;

  get outage(): Outage | null {
    return this.#outage;
  }

  /** Runs a write. @throws its error. */
  async note<T>(write: () => Promise<T>): Promise<T> {
    try {
      const written = await write();
      this.#outage = null;
      return written;
    } catch (error) {
      this.#outage = outageIn(error);
      throw error;
    }
  }
}

/** Codes of SQLSTATE: PostgreSQL, appendix A. */
const BY_SQLSTATE: readonly (readonly [RegExp, Outage])[] = [
  // connection_exception; shutdown, crash or start of the server; too_many_connections; idle transaction ended.
  [/^(08\w{3}|57P0[1-5]|53300|25P03)$/, 'unreachable'],
  // disk_full
  [/^53100$/, 'full'],
  // read_only_sql_transaction
  [/^25006$/, 'read_only'],
];

/** Codes of the system for connections and names that fail. */
const NETWORK =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** Messages of pg about lost connections, which have no code. */
const LOST =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect)/;

/** SQLITE_READONLY and SQLITE_FULL: https://sqlite.org/rescode.html */
const BY_SQLITE: Readonly<Record<number, Outage>> = { 8: 'read_only', 13: 'full' };

interface DriverError extends Error {
  code: unknown;
  errcode: unknown;
  /** Errors of the attempts at each address of a host. */
  errors: unknown;
}

/** Returns the outage that a driver's error reports; null for other errors. */
function outageOf(error: unknown): Outage | null {
  if (!(error instanceof Error)) return null;
  const { code, errcode, errors, message } = error as DriverError;
  if (typeof errcode === 'number') return BY_SQLITE[errcode & 0xff] ?? null;
  if (Array.isArray(errors)) return outageOf(errors[0]);
  if (typeof code !== 'string') return LOST.test(message) ? 'unreachable' : null;
  if (NETWORK.test(code)) return 'unreachable';
  return BY_SQLSTATE.find(([pattern]) => pattern.test(code))?.[1] ?? null;
}
