import type { Database, DatabaseAddress, ReadableDatabase } from './database.ts';

/** Opens a database, loading only the driver for its kind. */
export async function openDatabase(address: DatabaseAddress): Promise<Database> {
  if ('url' in address) return (await import('./postgres.ts')).openPostgres(address.url);
  return (await import('./sqlite.ts')).openSqlite(address.file);
}

/** Opens an existing database for a reader thread. */
export async function openForReading(address: DatabaseAddress): Promise<ReadableDatabase> {
  if ('url' in address) return (await import('./postgres.ts')).readPostgres(address.url);
  return (await import('./sqlite.ts')).readSqlite(address.file);
}
