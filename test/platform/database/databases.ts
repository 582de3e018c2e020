import { createSecretKey } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../../src/platform/database/database.ts';
import { openPostgres } from '../../../src/platform/database/postgres.ts';
import { RowSealer } from '../../../src/platform/database/row-sealer.ts';
import { openSqlite } from '../../../src/platform/database/sqlite.ts';
import { migrateAll } from '../../../src/platform/migrations.ts';
import { usePostgres } from '../../support/shared-postgres.ts';
import { type EmptyDatabase, emptied, emptyDatabaseAt } from './emptied.ts';

/** A database for one test. */
export interface MadeDatabase {
  database: Database;
  /** Opens the database again, as another process would. */
  open(): Database;
  query(statements: string): Promise<unknown[]>;
}

/** Databases of a test. */
export interface DatabasePlace {
  create(): Promise<MadeDatabase>;
  /** Creates an empty database with all tables of a platform. May end the database created before. */
  createMigrated(): Promise<MadeDatabase>;
  close(): Promise<void>;
}

/** Seals of the rows in these databases. */
export const SEALER = new RowSealer(createSecretKey(Buffer.alloc(32, 1)));

/** Each database that a platform supports, run for real. */
export const DATABASES: readonly (readonly [name: string, start: () => Promise<DatabasePlace>])[] = [
  ['SQLite', startSqlitePlace],
  ['PostgreSQL', startPostgresPlace],
];

export async function startSqlitePlace(): Promise<DatabasePlace> {
  const { DatabaseSync } = await import('node:sqlite');
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-'));
  const opened: Database[] = [];
  let made = 0;
  const pathOfNew = () => join(folder, `${++made}.sqlite`);
  const at = (path: string): MadeDatabase => {
    const open = () => remember(openSqlite(path, SEALER), opened);
    return {
      database: open(),
      open,
      async query(statements) {
        const other = new DatabaseSync(path);
        try {
          return other.prepare(statements).all();
        } finally {
          other.close();
        }
      },
    };
  };
  return {
    create: async () => at(pathOfNew()),
    async createMigrated() {
      const path = pathOfNew();
      await writeFile(path, await migratedSqlite());
      return at(path);
    },
    async close() {
      for (const database of opened) await database.close();
      await rm(folder, { recursive: true });
    },
  };
}

export async function startPostgresPlace(): Promise<DatabasePlace> {
  const server = await usePostgres();
  const opened: Database[] = [];
  const at = (url: string): MadeDatabase => {
    const open = () => remember(openPostgres(url, SEALER), opened);
    return { database: open(), open, query: async (statements) => (await server.query(url, statements)).rows };
  };
  const closeAll = async () => {
    for (const database of opened.splice(0)) await database.close();
  };
  let own: EmptyDatabase | undefined;
  return {
    create: async () => at(await server.create()),
    async createMigrated() {
      await closeAll();
      if (own === undefined || !(await emptied(server, own))) {
        const empty = await migratedPostgres();
        own = { ...empty, url: await server.create(empty.url) };
      }
      return at(own.url);
    },
    async close() {
      await closeAll();
      await server.close();
    },
  };
}

let sqliteFile: Promise<Buffer> | undefined;
let postgresDatabase: Promise<EmptyDatabase> | undefined;

/** Returns an SQLite file with all tables, made once per process. */
export function migratedSqlite(): Promise<Buffer> {
  sqliteFile ??= (async () => {
    const folder = await mkdtemp(join(tmpdir(), 'migrated-'));
    const path = join(folder, 'migrated.sqlite');
    await migrateAndClose(openSqlite(path, SEALER));
    const bytes = await readFile(path);
    await rm(folder, { recursive: true });
    return bytes;
  })();
  return sqliteFile;
}

/** Returns a PostgreSQL database with all tables, made once per process for copying. */
export function migratedPostgres(): Promise<EmptyDatabase> {
  postgresDatabase ??= (async () => {
    const server = await usePostgres();
    const url = await server.create();
    await migrateAndClose(openPostgres(url, SEALER));
    return emptyDatabaseAt(server, url);
  })();
  return postgresDatabase;
}

async function migrateAndClose(database: Database): Promise<void> {
  await migrateAll(database);
  await database.close();
}

function remember(database: Database, opened: Database[]): Database {
  opened.push(database);
  return database;
}
