import { CLOCK_TABLES } from './clock/tables.ts';
import type { Database, Reader } from './database/database.ts';
import { hasForm, migrate } from './database/migration.ts';
import { creationOf } from './database/table.ts';
import { IDEMPOTENCY_TABLES } from './idempotency/tables.ts';
import { JOB_TABLES } from './jobs/tables.ts';
import { MASTER_KEY_TABLES } from './master-key.ts';
import { MODULES } from './modules.ts';

const TABLES = [
  ...MODULES.flatMap((module) => ('tables' in module ? [[module.name, module.tables] as const] : [])),
  ['clock', CLOCK_TABLES],
  ['idempotency', IDEMPOTENCY_TABLES],
  ['jobs', JOB_TABLES],
  ['platform', MASTER_KEY_TABLES],
] as const;

const MIGRATIONS = Object.fromEntries(TABLES.map(([name, tables]) => [`${name}/0001`, creationOf(tables)]));

/** Brings the tables to the form of this version. @throws EvidenceError as `migrate`. */
export function migrateAll(database: Database): Promise<void> {
  return migrate(database, MIGRATIONS);
}

/** Reports whether a database is in the form of `migrateAll`; another version may have changed it since. */
export function isMigrated(reader: Reader): Promise<boolean> {
  return hasForm(reader, MIGRATIONS);
}
