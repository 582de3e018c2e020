import type { Database } from './database.ts';

/** Where a database is: a file of SQLite, or the address of one on PostgreSQL. */
export type DatabaseAddress = { file: string } | { url: string };

/** Opens a database. The driver of the other kind is not loaded. */
export async function openDatabase(address: DatabaseAddress): Promise<Database> {
  if ('url' in address) return (await import('./postgres.ts')).openPostgres(address.url);
  return (await import('./sqlite.ts')).openSqlite(address.file);
}
