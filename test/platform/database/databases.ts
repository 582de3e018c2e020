import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../../src/platform/database/database.ts';
import { openPostgres } from '../../../src/platform/database/postgres.ts';
import { openSqlite } from '../../../src/platform/database/sqlite.ts';
import { startPostgres } from '../../support/postgres.ts';

/** Where a test's databases are. */
export interface DatabasePlace {
  /** An empty database. `open` opens it once more, as another process would. */
  create(): Promise<{ database: Database; open(): Database; query(statements: string): Promise<unknown[]> }>;
  close(): Promise<void>;
}

/** Each database that a platform can be on, as real as it gets. */
export const DATABASES: readonly (readonly [name: string, start: () => Promise<DatabasePlace>])[] = [
  ['SQLite', startSqlitePlace],
  ['PostgreSQL', startPostgresPlace],
];

export async function startSqlitePlace(): Promise<DatabasePlace> {
  const { DatabaseSync } = await import('node:sqlite');
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-'));
  const opened: Database[] = [];
  let made = 0;
  return {
    async create() {
      const path = join(folder, `${++made}.sqlite`);
      const open = () => remember(openSqlite(path), opened);
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
    },
    async close() {
      for (const database of opened) await database.close();
      await rm(folder, { recursive: true });
    },
  };
}

export async function startPostgresPlace(): Promise<DatabasePlace> {
  const server = await startPostgres();
  const opened: Database[] = [];
  return {
    async create() {
      const url = await server.createDatabase();
      const open = () => remember(openPostgres(url), opened);
      return {
        database: open(),
        open,
        query: async (statements) => (await server.query(url, statements)).rows,
      };
    },
    async close() {
      for (const database of opened) await database.close();
      await server.stop();
    },
  };
}

function remember(database: Database, opened: Database[]): Database {
  opened.push(database);
  return database;
}
