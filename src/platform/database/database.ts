import type { Compilable, Kysely, RawBuilder } from 'kysely';

type Dialect = 'sqlite' | 'postgres';

/** Differences between the dialects in queries. */
export interface QueryDialect {
  /** A text as JSON writes it, with exactly the escapes that `JSON.stringify` makes. */
  json(text: RawBuilder<string>): RawBuilder<string>;
  /** Concatenates the texts of rows, in the order of a column, as UTF-8. */
  joined(text: RawBuilder<string>, by: string): RawBuilder<Uint8Array>;
  /** A condition that a column has one of many values. */
  isAmong(column: string, values: readonly string[]): RawBuilder<boolean>;
  /** At the end of a query: its rows are of this transaction until that ends. */
  locked: RawBuilder<unknown>;
  /** The same, without those that are of another transaction at the moment. */
  lockedByNobody: RawBuilder<unknown>;
  /** Ends each later statement of the transaction that takes longer; null where none waits for another transaction. */
  limitStatements(ms: number): RawBuilder<unknown> | null;
}

/** A source to read from: a database, where each statement sees what was committed when it began, or a transaction. */
export interface Reader {
  /** SQL that differs between the dialects. */
  readonly sql: QueryDialect;
  /** The tables that a module means: its own. */
  tables<Tables>(): Kysely<Tables>;
}

/** The address of a database: a file of SQLite, or one on PostgreSQL. It can be sent to a thread. */
export type DatabaseAddress = { file: string } | { url: string };

/** A database as long as nothing is written to it. */
export interface ReadableDatabase extends Reader {
  readonly address: DatabaseAddress;
  /** Runs `work`, which is short, with all of its statements seeing the same state. */
  snapshot<T>(work: (transaction: Reader) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Asks a query for its first row. The answer is what was committed by then, by whichever process: nothing is kept.
 * @param values in the place of those that the query was written with, in their order.
 */
export type PreparedQuery<Row> = (...values: readonly (string | number)[]) => Promise<Row | undefined>;

/** The database of a platform. */
export interface Database extends ReadableDatabase {
  readonly dialect: Dialect;
  /** Number of write transactions that one process should run at once: 1 on SQLite, 4 on PostgreSQL. */
  readonly writersAtOnce: number;
  /** The connections of this process, where it has several. */
  readonly connections: () => Connections | null;
  /**
   * Runs `work` in one transaction: all of it is on the disk once this resolves, and nothing where it throws. SQLite
   * has one writer at a time. On PostgreSQL `work` runs again where another transaction was in its way, so it must have
   * no effect of its own outside of the transaction.
   */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Makes a query of tables that are there ready to be asked with each request: it is compiled once. */
  prepare<Row>(query: Compilable<Row>): PreparedQuery<Row>;
  /** Only for `migrate`. */
  readonly forMigrations: Kysely<never>;
}

/** The counts of all connections, of idle ones, and of waiting transactions. */
interface Connections {
  open: number;
  idle: number;
  waiting: number;
}

export interface Transaction extends Reader {
  /** Adds rows, whose members are named and of the kinds that `columns` says, in their order. */
  insertAll(table: string, columns: Columns, rows: readonly StoredRow[]): Promise<void>;
  /** Changes the rows that have the first of these columns in common with one of `rows`. */
  updateAll(table: string, columns: Columns, rows: readonly StoredRow[]): Promise<void>;
}

export type Columns = Readonly<Record<string, ColumnKind>>;
export type ColumnKind = 'text' | 'integer' | 'bytes';
export type StoredRow = Readonly<Record<string, string | number | Uint8Array | null>>;

/** Thrown by the work of a transaction that has to run again from its beginning: another one was in its way. */
export class InTheWay extends Error {}
