import { closeSync, openSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Compilable,
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  sql,
} from 'kysely';
import type {
  Columns,
  Database,
  PreparedQuery,
  QueryDialect,
  ReadableDatabase,
  Reader,
  StoredRow,
  Transaction,
} from './database.ts';
import { OutageMemory } from './outage.ts';
import { SQLITE_POSTINGS } from './postings.ts';
import type { RowSealer } from './row-sealer.ts';
import { Prepared } from './sqlite-statements.ts';

/** Time that a transaction waits for another process that writes. */
const WAIT_MS = 10_000;

/** Duration of one attempt, which blocks everything else in this process. */
const ATTEMPT_MS = 10;
const PAUSE_MS = 5;

/** Result code: https://sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

/** Number of rows that one statement inserts. */
const ROWS_AT_ONCE = 20;

const DIALECT: QueryDialect = {
  json: (text) => sql`json_quote(${text})`,
  joined: (text) => sql`CAST(group_concat(${text}, '') AS BLOB)`,
  contains: (text, part) => sql`instr(${text}, ${part}) > 0`,
  inRanges({ table, column }, starts, length) {
    const number = sql.ref(`${table}.${column}`);
    return sql`json_each(${JSON.stringify(starts)}) AS starts CROSS JOIN ${sql.table(table)}
      ON ${number} BETWEEN starts.value AND starts.value + ${length - 1}`;
  },
  postings: SQLITE_POSTINGS,
  numbering: null,
  isAmong: (column, values) => sql`${sql.ref(column)} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`,
  // Locks are unnecessary, because there is a single writer.
  locked: sql``,
  lockedByNobody: sql``,
  limitStatements: () => null,
};

/**
 * Opens a SQLite file with a write-ahead log and durable commits. One connection writes, and two others read.
 * @param path the file, which is created if it does not exist.
 */
export function openSqlite(path: string, sealer: RowSealer): Database {
  const writing = connect(path, { readOnly: false, begin: 'BEGIN IMMEDIATE' });
  const reading = readSqlite(path, sealer);
  // Connection without transactions, in which a query would see the state at the transaction's start.
  const asking = openFile(path, { readOnly: true });
  const memory = new OutageMemory();
  return {
    ...reading,
    dialect: 'sqlite',
    writersAtOnce: 1,
    connections: () => null,
    forMigrations: writing,
    outage: () => memory.outage,
    write: (work) =>
      memory.note(() => writing.transaction().execute((transaction) => work(writerOf(transaction, sealer)))),
    prepare<Row>(query: Compilable<Row>): PreparedQuery<Row> {
      const statement = asking.prepare(query.compile().sql);
      return async (...values) => statement.get(...values) as Row | undefined;
    },
    async close() {
      asking.close();
      await reading.close();
      await writing.destroy();
    },
  };
}

/** Opens the same file read-only. @param path an existing file. */
export function readSqlite(path: string, sealer: RowSealer): ReadableDatabase {
  const reading = connect(path, { readOnly: true, begin: 'BEGIN' });
  return {
    address: { file: path },
    ...readerOf(reading, sealer),
    snapshot: (work) => reading.transaction().execute((transaction) => work(readerOf(transaction, sealer))),
    close: () => reading.destroy(),
  };
}

function readerOf(db: Kysely<never>, sealer: RowSealer): Reader {
  return { sql: DIALECT, sealer, tables: <Tables>() => db as unknown as Kysely<Tables> };
}

/** Returns a writer that prepares two statements: one for many rows at a time, and one for the remaining rows. */
function writerOf(transaction: Kysely<never>, sealer: RowSealer): Transaction {
  const insert = async (table: string, columns: Columns, rows: readonly StoredRow[], end: string) => {
    const names = Object.keys(columns);
    const one = `(${names.map(() => '?').join(', ')})`;
    let inserted = 0;
    for (const some of inPieces(rows)) {
      const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES ${some.map(() => one).join(', ')} ${end}`;
      const values = some.flatMap((row) => valuesOf(row, names));
      const { numAffectedRows } = await transaction.executeQuery(CompiledQuery.raw(text, values));
      inserted += Number(numAffectedRows);
    }
    return inserted;
  };
  return {
    ...readerOf(transaction, sealer),
    async insertAll(table, columns, rows) {
      await insert(table, columns, rows, '');
    },
    insertAbsent: (table, columns, rows) => insert(table, columns, rows, 'ON CONFLICT DO NOTHING'),
    async updateAll(table, columns, rows) {
      const [key = '', ...others] = Object.keys(columns);
      const text = `UPDATE ${table} SET ${others.map((name) => `${name} = ?`).join(', ')} WHERE ${key} = ?`;
      for (const row of rows) await transaction.executeQuery(CompiledQuery.raw(text, valuesOf(row, [...others, key])));
    },
  };
}

/** Splits rows into groups of the full size, and the rest into single rows. */
function* inPieces<T>(rows: readonly T[]): Generator<readonly T[]> {
  let at = 0;
  for (; at + ROWS_AT_ONCE <= rows.length; at += ROWS_AT_ONCE) yield rows.slice(at, at + ROWS_AT_ONCE);
  for (; at < rows.length; at++) yield rows.slice(at, at + 1);
}

function valuesOf(row: StoredRow, names: readonly string[]): unknown[] {
  return names.map((name) => row[name]);
}

interface Connection {
  readOnly: boolean;
  /** First statement. A transaction that starts by reading could fail if another one writes before it does. */
  begin: 'BEGIN' | 'BEGIN IMMEDIATE';
}

function openFile(path: string, { readOnly }: Pick<Connection, 'readOnly'>): DatabaseSync {
  return new DatabaseSync(path, { readOnly, timeout: ATTEMPT_MS, enableForeignKeyConstraints: true });
}

function connect(path: string, { readOnly, begin }: Connection): Kysely<never> {
  const database = openFile(path, { readOnly });
  if (!readOnly)
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;');
  const isInTransaction = () => database.isTransaction;
  return new Kysely<never>({
    dialect: new NodeSqliteDialect({ database: new Prepared(database) }, { begin, isInTransaction }),
  });
}

interface Transactions extends Pick<Connection, 'begin'> {
  isInTransaction(): boolean;
}

class NodeSqliteDialect extends SqliteDialect {
  readonly #config: { database: SqliteDatabase };
  readonly #transactions: Transactions;

  constructor(config: { database: SqliteDatabase }, transactions: Transactions) {
    super(config);
    this.#config = config;
    this.#transactions = transactions;
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }

  override createDriver(): SqliteDriver {
    return new TransactionDriver(this.#config, this.#transactions);
  }
}

/** Adapter that declares transactional DDL; without it, Kysely could apply a migration in part. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class TransactionDriver extends SqliteDriver {
  readonly #begin: CompiledQuery;
  readonly #isInTransaction: () => boolean;

  constructor(config: { database: SqliteDatabase }, { begin, isInTransaction }: Transactions) {
    super(config);
    this.#begin = CompiledQuery.raw(begin);
    this.#isInTransaction = isInTransaction;
  }

  /** Does nothing if SQLite rolled back by itself, e.g. on a full disk; another error would hide the first. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#isInTransaction()) await super.rollbackTransaction(connection);
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const end = performance.now() + WAIT_MS;
    for (;;) {
      try {
        await connection.executeQuery(this.#begin);
        return;
      } catch (error) {
        if ((error as { errcode?: number }).errcode !== SQLITE_BUSY || performance.now() > end) throw error;
        await sleep(PAUSE_MS);
      }
    }
  }
}

const ALL_PAGES = 2 ** 31 - 1;

/** Copies a SQLite database in its state at one moment, while others write. @param to a new file. */
export async function backupSqlite(from: string, to: string): Promise<void> {
  const database = new DatabaseSync(from, { readOnly: true });
  try {
    // The copy would otherwise be readable by everyone.
    closeSync(openSync(to, 'wx', 0o600));
    // Copied in one step, because a write between two steps would restart the copy.
    await backup(database, to, { rate: ALL_PAGES });
  } finally {
    database.close();
  }
}
