import { ACCOUNT_MIGRATIONS } from './accounts/migrations.ts';
import { PEOPLE_MIGRATIONS } from './accounts/people-migrations.ts';
import { AGENT_MIGRATIONS } from './agents/migrations.ts';
import { ALERT_MIGRATIONS } from './alerts/migrations.ts';
import { setAside } from './audit/earlier.ts';
import { AUDIT_MIGRATIONS } from './audit/migrations.ts';
import type { Database, Reader } from './database/database.ts';
import { hasForm, migrate } from './database/migration.ts';
import { ENDPOINT_MIGRATIONS } from './endpoints/migrations.ts';
import { PACKAGE_MIGRATIONS } from './endpoints/packages/migrations.ts';
import { IDEMPOTENCY_MIGRATIONS } from './idempotency/migrations.ts';
import { JOB_MIGRATIONS } from './jobs/migrations.ts';
import { MASTER_KEY_MIGRATIONS } from './master-key.ts';
import { TRAP_MIGRATIONS } from './traps/migrations.ts';

const MIGRATIONS = {
  ...MASTER_KEY_MIGRATIONS,
  ...ACCOUNT_MIGRATIONS,
  ...PEOPLE_MIGRATIONS,
  ...ALERT_MIGRATIONS,
  ...AUDIT_MIGRATIONS,
  ...IDEMPOTENCY_MIGRATIONS,
  ...JOB_MIGRATIONS,
  ...TRAP_MIGRATIONS,
  ...ENDPOINT_MIGRATIONS,
  ...PACKAGE_MIGRATIONS,
  ...AGENT_MIGRATIONS,
};

/** Brings a database to the form that all that is in this version needs. @throws EvidenceError as `migrate`. */
export async function migrateAll(database: Database): Promise<void> {
  await setAside(database);
  await migrate(database, MIGRATIONS);
}

/** Whether a database is as `migrateAll` leaves it: another version may have changed it since. */
export function isMigrated(reader: Reader): Promise<boolean> {
  return hasForm(reader, MIGRATIONS);
}
