import {
  type Compilable,
  CompiledQuery,
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPoolClient,
  sql,
} from 'kysely';
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
import { POSTGRES_NUMBERING } from './numbering.ts';
import { asOutage, OutageMemory } from './outage.ts';
import { answered } from './postgres-answers.ts';
import { POSTGRES_POSTINGS } from './postings.ts';
import type { RowSealer } from './row-sealer.ts';

/** Maximum number of connections of one process. */
const CONNECTIONS = 10;
/** Maximum number of connections for writers; more would leave fewer for readers. */
const WRITERS = 4;
/** Idle time in a transaction after which the server ends the transaction, whose locks block all other processes. */
const IDLE_TRANSACTION = '-c idle_in_transaction_session_timeout=30s';
/** Time limit for a connection, whether it is opened or another request gives it back. */
const CONNECT_MS = 15_000;
/** Maximum number of connections of a reader thread. */
const READING_CONNECTIONS = 2;

/** Number of attempts at a transaction that conflicts with another. */
const ATTEMPTS = 10;

/** SQLSTATE codes serialization_failure and deadlock_detected: PostgreSQL, appendix A. */
const WORTH_ANOTHER = new Set(['40001', '40P01']);

const INT8 = 20;
/** Type of the sum of 64-bit integers. */
const NUMERIC = 1700;

/** Parses both types as JavaScript numbers, which represent every stored value exactly. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    id === INT8 || id === NUMERIC ? Number : pg.types.getTypeParser(id, format as 'text'),
};

const DIALECT: QueryDialect = {
  json: (text) => sql`to_json(${text})::text`,
  joined: (text, by) => sql`convert_to(string_agg(${text}, '' ORDER BY ${sql.ref(by)}), 'UTF8')`,
  contains: (text, part) => sql`strpos(${text}, ${part}) > 0`,
  // The limit makes the planner read each range from the index.
  inRanges: ({ table, column }, starts, length) =>
    sql`unnest(${starts}::bigint[]) AS starts (value) CROSS JOIN LATERAL (SELECT * FROM ${sql.table(table)}
      WHERE ${sql.ref(column)} BETWEEN starts.value AND starts.value + ${length - 1}::bigint
      ORDER BY ${sql.ref(column)} LIMIT ${length}) AS ${sql.table(table)}`,
  postings: POSTGRES_POSTINGS,
  numbering: POSTGRES_NUMBERING,
  isAmong: (column, values) => sql`${sql.ref(column)} = ANY(${values}::text[])`,
  locked: sql`FOR UPDATE`,
  lockedByNobody: sql`FOR UPDATE SKIP LOCKED`,
  limitStatements: (ms) => sql`SELECT set_config('statement_timeout', ${String(ms)}, true)`,
};

/** Opens a PostgreSQL database. @param url `postgres://user:password@host:port/database`. */
export function openPostgres(url: string, sealer: RowSealer): Database {
  const { db, pool } = connect({ connectionString: url, max: CONNECTIONS, options: IDLE_TRANSACTION });
  const memory = new OutageMemory();
  return {
    dialect: 'postgres',
    writersAtOnce: WRITERS,
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    forMigrations: db,
    ...readableOf(url, db, sealer),
    outage: () => memory.outage,
    write: (work) =>
      memory.note(() => again(() => db.transaction().execute((transaction) => work(writerOf(transaction, sealer))))),
    prepare<Row>(query: Compilable<Row>): PreparedQuery<Row> {
      const text = query.compile().sql;
      // Unnamed on the server: a named plan fails after another version of the platform migrates the tables.
      return async (...values) => {
        const connection = await connectTo(pool);
        try {
          return (await connection.query<Row>(text, values)).rows[0];
        } finally {
          connection.release();
        }
      };
    },
  };
}

/** Opens the same database read-only. */
export function readPostgres(url: string, sealer: RowSealer): ReadableDatabase {
  const options = '-c default_transaction_read_only=on';
  return readableOf(url, connect({ connectionString: url, max: READING_CONNECTIONS, options }).db, sealer);
}

function connect(config: pg.PoolConfig): { db: Kysely<never>; pool: pg.Pool } {
  const pool = new pg.Pool({ ...config, types, connectionTimeoutMillis: CONNECT_MS });
  // The pool replaces a broken connection, whose next statement fails; without a listener, the error would end the
  // process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const dialect = new PostgresDialect({
    pool: { options: pool.options, connect: () => connectTo(pool), end: () => pool.end() },
  });
  return { db: new Kysely<never>({ dialect }), pool };
}

/** Returns a connection whose errors are those of `asOutage`. */
async function connectTo(pool: pg.Pool): Promise<PostgresPoolClient> {
  const client = await reporting(pool.connect());
  return {
    // Kysely uses cursors for streams only, which nothing here requests.
    query: <R>(text: string | PostgresCursor<R>, values: readonly unknown[] = []) =>
      reporting(answered(pool.options, client, client.query(text as string, [...values]))) as never,
    release: () => client.release(),
  };
}

function reporting<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    throw asOutage(error);
  });
}

function readableOf(url: string, db: Kysely<never>, sealer: RowSealer): ReadableDatabase {
  return {
    address: { url },
    ...readerOf(db, sealer),
    snapshot: (work) =>
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute((transaction) => work(readerOf(transaction, sealer))),
    close: () => db.destroy(),
  };
}

function readerOf(db: Kysely<never>, sealer: RowSealer): Reader {
  return { sql: DIALECT, sealer, tables: <Tables>() => db as unknown as Kysely<Tables> };
}

/** Returns a writer that uses one statement for all rows, because each statement is a network round trip. */
function writerOf(transaction: Kysely<never>, sealer: RowSealer): Transaction {
  const insert = async (table: string, columns: Columns, rows: readonly StoredRow[], end: string) => {
    if (rows.length === 0) return 0;
    const names = Object.keys(columns);
    const text = `INSERT INTO ${table} (${names.join(', ')}) SELECT * FROM ${unnest(columns)} ${end}`;
    const { numAffectedRows } = await transaction.executeQuery(CompiledQuery.raw(text, arraysOf(rows, names)));
    return Number(numAffectedRows);
  };
  return {
    ...readerOf(transaction, sealer),
    async insertAll(table, columns, rows) {
      await insert(table, columns, rows, '');
    },
    insertAbsent: (table, columns, rows) => insert(table, columns, rows, 'ON CONFLICT DO NOTHING'),
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
