import { type Compilable, CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import {
  type ColumnKind,
  type Columns,
  type Database,
  InTheWay,
  type PreparedQuery,
  type QueryDialect,
  type ReadableDatabase,
  type Reader,
  type StoredRow,
  type Transaction,
} from './database.ts';

/** Connections of one process. */
const CONNECTIONS = 10;
/** Connections for writers. More of them leave less for readers. */
const WRITERS = 4;
/** Pause in a transaction after which the server ends it: its locks hold up all other processes. */
const IDLE_TRANSACTION = '-c idle_in_transaction_session_timeout=30s';
/** Those of a thread that reads. */
const READING_CONNECTIONS = 2;

/** The attempts at a transaction that conflicts with another one. */
const ATTEMPTS = 10;

/** serialization_failure, deadlock_detected: PostgreSQL, appendix A. */
const WORTH_ANOTHER = new Set(['40001', '40P01']);

const INT8 = 20;
/** The sum of numbers of 64 bits is one. */
const NUMERIC = 1700;

/** These are read as numbers of JavaScript, which hold all that are ever stored. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    id === INT8 || id === NUMERIC ? Number : pg.types.getTypeParser(id, format as 'text'),
};

const DIALECT: QueryDialect = {
  json: (text) => sql`to_json(${text})::text`,
  joined: (text, by) => sql`convert_to(string_agg(${text}, '' ORDER BY ${sql.ref(by)}), 'UTF8')`,
  isAmong: (column, values) => sql`${sql.ref(column)} = ANY(${values}::text[])`,
  locked: sql`FOR UPDATE`,
  lockedByNobody: sql`FOR UPDATE SKIP LOCKED`,
  limitStatements: (ms) => sql`SELECT set_config('statement_timeout', ${String(ms)}, true)`,
};

/** Opens a PostgreSQL database. @param url `postgres://user:password@host:port/database`. */
export function openPostgres(url: string): Database {
  const { db, pool } = connect({ connectionString: url, max: CONNECTIONS, options: IDLE_TRANSACTION });
  return {
    dialect: 'postgres',
    writersAtOnce: WRITERS,
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    forMigrations: db,
    ...readableOf(url, db),
    write: (work) => again(() => db.transaction().execute((transaction) => work(writerOf(transaction)))),
    prepare<Row>(query: Compilable<Row>): PreparedQuery<Row> {
      const text = query.compile().sql;
      // Without a name on the server: a plan that is kept there fails once another version of the platform migrates.
      return async (...values) => (await pool.query(text, [...values])).rows[0];
    },
  };
}

/** The same for one who does not write. */
export function readPostgres(url: string): ReadableDatabase {
  const options = '-c default_transaction_read_only=on';
  return readableOf(url, connect({ connectionString: url, max: READING_CONNECTIONS, options }).db);
}

function connect(config: pg.PoolConfig): { db: Kysely<never>; pool: pg.Pool } {
  const pool = new pg.Pool({ ...config, types });
  // The pool replaces a connection that breaks, and its next statement fails; without a listener it would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return { db: new Kysely<never>({ dialect: new PostgresDialect({ pool }) }), pool };
}

function readableOf(url: string, db: Kysely<never>): ReadableDatabase {
  return {
    address: { url },
    ...readerOf(db),
    snapshot: (work) =>
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute((transaction) => work(readerOf(transaction))),
    close: () => db.destroy(),
  };
}

function readerOf(db: Kysely<never>): Reader {
  return { sql: DIALECT, tables: <Tables>() => db as unknown as Kysely<Tables> };
}

/** One statement for all rows: each one is a way over the network. */
function writerOf(transaction: Kysely<never>): Transaction {
  return {
    ...readerOf(transaction),
    async insertAll(table, columns, rows) {
      if (rows.length === 0) return;
      const names = Object.keys(columns);
      const text = `INSERT INTO ${table} (${names.join(', ')}) SELECT * FROM ${unnest(columns)}`;
      await transaction.executeQuery(CompiledQuery.raw(text, arraysOf(rows, names)));
    },
    async updateAll(table, columns, rows) {
      if (rows.length === 0) return;
      const names = Object.keys(columns);
      const [key = '', ...others] = names;
      const text = `UPDATE ${table} SET ${others.map((name) => `${name} = given.${name}`).join(', ')}
        FROM ${unnest(columns)} AS given (${names.join(', ')}) WHERE ${table}.${key} = given.${key}`;
      await transaction.executeQuery(CompiledQuery.raw(text, arraysOf(rows, names)));
    },
  };
}

async function again<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = ATTEMPTS; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      const isWorthIt = error instanceof InTheWay || WORTH_ANOTHER.has((error as { code?: string }).code ?? '');
      if (!isWorthIt || left === 1) throw error;
    }
  }
}

const TYPES: Record<ColumnKind, string> = { text: 'text', integer: 'bigint', bytes: 'bytea' };

function unnest(columns: Columns): string {
  const arrays = Object.values(columns).map((kind, index) => `$${index + 1}::${TYPES[kind]}[]`);
  return `unnest(${arrays.join(', ')})`;
}

function arraysOf(rows: readonly StoredRow[], names: readonly string[]): unknown[] {
  return names.map((name) => rows.map((row) => row[name]));
}
