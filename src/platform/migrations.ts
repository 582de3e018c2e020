import { ACCOUNT_TABLES } from './accounts/tables.ts';
import { AGENT_TABLES } from './agents/tables.ts';
import { ALERT_TABLES } from './alerts/tables.ts';
import { AUDIT_TABLES } from './audit/tables.ts';
import type { Database, Reader } from './database/database.ts';
import { hasForm, migrate } from './database/migration.ts';
import { creationOf } from './database/table.ts';
import { PACKAGE_TABLES } from './endpoints/packages/tables.ts';
import { ENDPOINT_TABLES } from './endpoints/tables.ts';
import { IDEMPOTENCY_TABLES } from './idempotency/tables.ts';
import { JOB_TABLES } from './jobs/tables.ts';
import { MASTER_KEY_TABLES } from './master-key.ts';
import { TRAP_TABLES } from './traps/tables.ts';

const MIGRATIONS = {
  'accounts/0001': creationOf(ACCOUNT_TABLES),
  'agents/0001': creationOf(AGENT_TABLES),
  'alerts/0001': creationOf(ALERT_TABLES),
  'audit/0001': creationOf(AUDIT_TABLES),
  'endpoints/0001': creationOf({ ...ENDPOINT_TABLES, ...PACKAGE_TABLES }),
  'idempotency/0001': creationOf(IDEMPOTENCY_TABLES),
  'jobs/0001': creationOf(JOB_TABLES),
  'platform/0001': creationOf(MASTER_KEY_TABLES),
  'traps/0001': creationOf(TRAP_TABLES),
};

/** Creates the tables that this version needs. @throws EvidenceError as `migrate`. */
export function migrateAll(database: Database): Promise<void> {
  return migrate(database, MIGRATIONS);
}

/** True if a database is as `migrateAll` leaves it: another version may have changed it since. */
export function isMigrated(reader: Reader): Promise<boolean> {
  return hasForm(reader, MIGRATIONS);
}
