import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { type Collect, gauge } from '../../core/exposition.ts';
import type { DerivedSealKeys } from '../audit/seal-keys.ts';
import { type PlatformClock, sayJump } from '../clock/clock.ts';
import type { Database } from '../database/database.ts';
import { OUTAGES } from '../database/outage.ts';
import type { Scheduler } from '../jobs/scheduler.ts';
import type { JobTables } from '../jobs/tables.ts';
import { type MailSettings, requireMail } from '../mail/open.ts';
import { hasMasterKey } from '../master-key.ts';
import { Histogram } from '../metrics/histogram.ts';
import { processMetrics } from '../metrics/process.ts';
import { isMigrated } from '../migrations.ts';
import { type MetricsFor, Readiness, type ReadinessCheck, statusRoutes } from './routes.ts';

interface StatusDeps {
  database: Database;
  keys: DerivedSealKeys;
  scheduler: Scheduler;
  clock: () => Date;
  time: PlatformClock;
  modules: readonly { metrics?: Collect }[];
  metricsFor: MetricsFor;
  mail: MailSettings;
}

/** Serves `/health`, `/ready` and `/metrics`. Call this before registering the routes to be measured. */
export async function serveStatus(server: FastifyInstance, watched: StatusDeps): Promise<void> {
  const { database, keys, scheduler, clock, time, modules, metricsFor, mail } = watched;
  const checks = {
    database: async () => {
      await sql`SELECT 1`.execute(database.tables());
      const outage = database.outage();
      return outage === null ? null : OUTAGES[outage];
    },
    migrations: unless(() => isMigrated(database), 'another version of the platform changed the tables'),
    master_key: unless(() => hasMasterKey(database, keys), 'the database belongs to another master key'),
    scheduler: unless(async () => scheduler.beats, 'jobs do not run'),
    clock: async () => (time.jump === null ? null : sayJump(time.jump)),
    ...('folder' in mail ? { mail_folder: unless(() => canWrite(mail), 'mails cannot be written') } : {}),
  };
  const collect = [
    measureRequests(server),
    ...modules.flatMap((each) => each.metrics ?? []),
    databaseMetrics(database),
    clockMetrics(time),
    processMetrics(),
  ];
  await statusRoutes(server, { readiness: new Readiness(checks, clock), collect, metricsFor });
}

/** @param reason the reason if the condition does not hold. */
function unless(condition: () => Promise<boolean>, reason: string): ReadinessCheck {
  return async () => ((await condition()) ? null : reason);
}

async function canWrite(mail: MailSettings): Promise<boolean> {
  await requireMail(mail);
  return true;
}

/**
 * Returns the metrics of this process's connections, and of the outbox and jobs in the database, which all processes
 * share.
 */
function databaseMetrics(database: Database): Collect {
  return async () => {
    const outbox = await database
      .tables<JobTables>()
      .selectFrom('outbox')
      .select(['status', sql<number>`count(*)`.as('messages')])
      .where('status', 'in', ['waiting', 'dead'])
      .groupBy('status')
      .execute();
    const jobs = await database.tables<JobTables>().selectFrom('jobs').selectAll().orderBy('name').execute();
    const messagesOf = (wanted: string) => outbox.find(({ status }) => status === wanted)?.messages ?? 0;
    const ended = jobs.flatMap(({ name, succeeded_at }) =>
      succeeded_at === null ? [] : [{ labels: { job: name }, value: Date.parse(succeeded_at) / 1000 }],
    );
    const failed = jobs.map(({ name, last_error }) => ({ labels: { job: name }, value: Number(last_error !== null) }));
    const connections = Object.entries(database.connections() ?? {}).map(([state, value]) => ({
      labels: { state },
      value,
    }));
    return [
      gauge('database_connections', 'PostgreSQL connections, and requests waiting for one.', connections),
      gauge('outbox_waiting_messages', 'Messages waiting for delivery.', messagesOf('waiting')),
      gauge('outbox_dead_messages', 'Undeliverable messages.', messagesOf('dead')),
      gauge('job_last_success_timestamp_seconds', 'Time of the last successful run of a job.', ended),
      gauge('job_failed', 'Whether the last run of a job failed.', failed),
    ];
  };
}

/** Returns the metric of the difference between the clocks of the machine and of the platform. */
function clockMetrics(time: PlatformClock): Collect {
  return () => {
    const { jump } = time;
    const ahead = jump === null ? 0 : (jump.reads.getTime() - jump.expected.getTime()) / 1000;
    return [gauge('clock_ahead_seconds', 'Jump of the clock of this machine that nobody accepted; 0 without.', ahead)];
  };
}

const BOUNDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Measures every request by the pattern of its route; made-up paths count as no route. */
function measureRequests(server: FastifyInstance): Collect {
  const durations = new Histogram(
    'http_request_duration_seconds',
    'Time from the first byte of a request to the end of its answer.',
    BOUNDS,
  );
  server.addHook('onResponse', ({ routeOptions: { url }, method }, { statusCode, elapsedTime }, done) => {
    const labels = url === undefined ? { method: 'any', route: 'none' } : { method, route: url };
    durations.observe(elapsedTime / 1000, { ...labels, status: `${statusCode}` });
    done();
  });
  return () => [durations.family()];
}
