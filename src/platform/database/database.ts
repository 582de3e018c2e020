import type { Compilable, Kysely, RawBuilder } from 'kysely';
import type { Outage } from './outage.ts';
import type { Postings } from './postings.ts';
import type { RowSealer } from './row-sealer.ts';

type Dialect = 'sqlite' | 'postgres';

/** Differences between the SQL dialects in queries. */
export interface QueryDialect {
  /** Returns a text as a JSON string, with the same escapes as `JSON.stringify`. */
  json(text: RawBuilder<string>): RawBuilder<string>;
  /** Concatenates the texts of rows, in the order of a column, as UTF-8. */
  joined(text: RawBuilder<string>, by: string): RawBuilder<Uint8Array>;
  /** Returns a condition that a text contains another, byte by byte. */
  contains(text: RawBuilder<string>, part: string): RawBuilder<boolean>;
  /** Returns a FROM clause: the rows of a table whose number is in one of several ranges of `length` numbers. */
  inRanges(column: ColumnOf, starts: readonly number[], length: number): RawBuilder<unknown>;
  readonly postings: Postings;
  /** Null if transactions commit in the order of the numbers that they assign. */
  readonly numbering: Numbering | null;
  /** Returns a condition that a column has one of many values. */
  isAmong(column: string, values: readonly string[]): RawBuilder<boolean>;
  /** Clause at the end of a query that locks its rows until the transaction ends. */
  locked: RawBuilder<unknown>;
  /** Variant of `locked` that skips rows locked by another transaction. */
  lockedByNobody: RawBuilder<unknown>;
  /**
   * Limits the duration of each later statement of the transaction; null if statements never wait for another
   * transaction.
   */
  limitStatements(ms: number): RawBuilder<unknown> | null;
}

/** SQL about ordinals that a database assigns to rows before their transactions commit. */
export interface Numbering {
  /** Announces, until the transaction ends, that it assigns numbers from now on. */
  announce(table: string, column: string): RawBuilder<unknown>;
  /** Returns the last number that was assigned. */
  last(table: string, column: string): RawBuilder<{ number: number }>;
  /** Returns the lowest number that a running transaction may have assigned; null if there is none. */
  lowestPending: RawBuilder<{ number: number | null }>;
}

interface ColumnOf {
  table: string;
  column: string;
}

/** Source of reads: a database, in which each statement sees the data committed before it started, or a transaction. */
export interface Reader {
  /** SQL that differs between the dialects. */
  readonly sql: QueryDialect;
  /** Seals of rows that give power. */
  readonly sealer: RowSealer;
  /** Returns a query builder for the tables of a module. */
  tables<Tables>(): Kysely<Tables>;
}

/** Address of a database: a SQLite file, or a PostgreSQL URL. It can be sent to a thread. */
export type DatabaseAddress = { file: string } | { url: string };

/** Database without write access. */
export interface ReadableDatabase extends Reader {
  readonly address: DatabaseAddress;
  /** Runs `work` with all its statements in one snapshot. It must be short. */
  snapshot<T>(work: (transaction: Reader) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Runs a prepared query and returns its first row. Sees all data committed before, by any process; nothing is cached.
 * @param values replace those in the query, in order.
 */
export type PreparedQuery<Row> = (...values: readonly (string | number)[]) => Promise<Row | undefined>;

/** Database of a platform. */
export interface Database extends ReadableDatabase {
  readonly dialect: Dialect;
  /** Number of write transactions that one process should run at once: 1 on SQLite, 4 on PostgreSQL. */
  readonly writersAtOnce: number;
  /** Returns the outage that the last write of this process met; null if the write was not prevented by one. */
  readonly outage: () => Outage | null;
  /** Returns the connections of this process; null if there is no pool. */
  readonly connections: () => Connections | null;
  /**
   * Runs `work` in one transaction, which is durable when this resolves and rolled back if `work` throws. SQLite has
   * one writer at a time. On PostgreSQL, `work` runs again after a conflict with another transaction, so it must have
   * no effects outside the transaction.
   */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Prepares a query on existing tables for frequent use; it is compiled once. */
  prepare<Row>(query: Compilable<Row>): PreparedQuery<Row>;
  /** Connection for `migrate` only. */
  readonly forMigrations: Kysely<never>;
}

/** Numbers of all connections, of idle ones, and of waiting transactions. */
interface Connections {
  open: number;
  idle: number;
  waiting: number;
}

export interface Transaction extends Reader {
  /** Inserts rows whose members have the names and kinds of `columns`, in order. */
  insertAll(table: string, columns: Columns, rows: readonly StoredRow[]): Promise<void>;
  /** Inserts those of the rows that conflict with no other row, and returns their number. */
  insertAbsent(table: string, columns: Columns, rows: readonly StoredRow[]): Promise<number>;
  /** Updates the rows whose first of these columns equals that of one of `rows`. */
  updateAll(table: string, columns: Columns, rows: readonly StoredRow[]): Promise<void>;
}

export type Columns = Readonly<Record<string, ColumnKind>>;
export type ColumnKind = 'text' | 'integer' | 'bytes';
export type StoredRow = Readonly<Record<string, string | number | Uint8Array | null>>;

/** Error that makes a transaction run again from its start, because another one was in its way. */
export class InTheWay extends Error {}
