import type { Database, DatabaseAddress, ReadableDatabase } from './database.ts';

/** Opens a database. The driver of the other kind is not loaded. */
export async function openDatabase(address: DatabaseAddress): Promise<Database> {
  if ('url' in address) return (await import('./postgres.ts')).openPostgres(address.url);
  return (await import('./sqlite.ts')).openSqlite(address.file);
}

/** Opens a database that is there, for a thread that reads beside the one that writes. */
export async function openForReading(address: DatabaseAddress): Promise<ReadableDatabase> {
  if ('url' in address) return (await import('./postgres.ts')).readPostgres(address.url);
  return (await import('./sqlite.ts')).readSqlite(address.file);
}
