import { sql } from 'kysely';
import { type Collect, gauge } from '../../core/exposition.ts';
import type { Database } from '../database/database.ts';
import type { JobTables } from '../jobs/tables.ts';

/** The connections of this process; the outbox and the jobs as the database has them: of all processes together. */
export function databaseMetrics(database: Database): Collect {
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
      gauge('database_connections', 'Connections to PostgreSQL, and requests that wait for one.', connections),
      gauge('outbox_waiting_messages', 'Messages that are to be delivered.', messagesOf('waiting')),
      gauge('outbox_dead_messages', 'Messages that nobody tries any more.', messagesOf('dead')),
      gauge('job_last_success_timestamp_seconds', 'When a job ended well last.', ended),
      gauge('job_failed', 'Whether the last run of a job failed.', failed),
    ];
  };
}
