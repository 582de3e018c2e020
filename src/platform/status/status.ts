import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import type { Collect } from '../../core/exposition.ts';
import type { DerivedSealKeys } from '../audit/seal-keys.ts';
import type { Database } from '../database/database.ts';
import type { Scheduler } from '../jobs/scheduler.ts';
import { type MailSettings, requireMail } from '../mail/open.ts';
import { hasMasterKey } from '../master-key.ts';
import { processMetrics } from '../metrics/process.ts';
import { isMigrated } from '../migrations.ts';
import { databaseMetrics } from './database.ts';
import type { MetricsFor } from './metrics-for.ts';
import { Readiness } from './readiness.ts';
import { measureRequests } from './requests.ts';
import { statusRoutes } from './routes.ts';

export interface StatusDeps {
  database: Database;
  keys: DerivedSealKeys;
  scheduler: Scheduler;
  clock: () => Date;
  modules: readonly { metrics?: Collect }[];
  metricsFor: MetricsFor;
  mail: MailSettings;
}

/** Serves `/health`, `/ready` and `/metrics`; before the routes that are to be measured. */
export async function serveStatus(server: FastifyInstance, watched: StatusDeps): Promise<void> {
  const { database, keys, scheduler, clock, modules, metricsFor, mail } = watched;
  const checks = {
    database: async () => (await sql`SELECT 1`.execute(database.tables())).rows.length === 1,
    migrations: () => isMigrated(database),
    master_key: () => hasMasterKey(database, keys),
    scheduler: async () => scheduler.beats,
    ...('folder' in mail ? { mail_folder: () => requireMail(mail).then(() => true) } : {}),
  };
  const collect = [
    measureRequests(server),
    ...modules.flatMap((each) => each.metrics ?? []),
    databaseMetrics(database),
    processMetrics(),
  ];
  await statusRoutes(server, { readiness: new Readiness(checks, clock), collect, metricsFor });
}
