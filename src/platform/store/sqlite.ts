import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely';
import type { Tables } from './schema.ts';

/** How long a statement waits for another process that holds the write lock. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * Opens a SQLite file so that a commit that returned has reached the disk: write-ahead log, synchronous FULL.
 * The file is created when it does not exist.
 */
export function openSqlite(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;');
  return database;
}

/**
 * A query builder over an open database. It must not be used for transactions: they would stay open across ticks in
 * which `inTransaction` runs on the same connection.
 */
export function kyselyOver(database: DatabaseSync): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: new KyselyAdapter(database) }) });
}

/**
 * Runs `work` in one write transaction, without giving way to anything else in this process.
 * @throws whatever `work` or the commit throws, after everything was rolled back.
 */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** node:sqlite in the shape of better-sqlite3, which is what Kysely's dialect calls. */
class KyselyAdapter implements SqliteDatabase {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  close(): void {
    this.#database.close();
  }

  prepare(sql: string) {
    const statement: StatementSync = this.#database.prepare(sql);
    return {
      reader: statement.columns().length > 0,
      all: (parameters: readonly unknown[]) => statement.all(...(parameters as SQLInputValue[])),
      run: (parameters: readonly unknown[]) => statement.run(...(parameters as SQLInputValue[])),
      iterate: (parameters: readonly unknown[]) => statement.iterate(...(parameters as SQLInputValue[])),
    };
  }
}
