import type { Database, DatabaseAddress, ReadableDatabase } from './database.ts';
import type { RowSealer } from './row-sealer.ts';

/** Opens a database, loading only the driver for its kind. */
export async function openDatabase(address: DatabaseAddress, sealer: RowSealer): Promise<Database> {
  if ('url' in address) return (await import('./postgres.ts')).openPostgres(address.url, sealer);
  return (await import('./sqlite.ts')).openSqlite(address.file, sealer);
}

/** Opens an existing database for a reader thread. */
export async function openForReading(address: DatabaseAddress, sealer: RowSealer): Promise<ReadableDatabase> {
  if ('url' in address) return (await import('./postgres.ts')).readPostgres(address.url, sealer);
  return (await import('./sqlite.ts')).readSqlite(address.file, sealer);
}
