import { type Collect, counter, gauge } from '../../core/exposition.ts';
import type { AuditService } from './service.ts';
import type { AuditTables } from './tables.ts';

/** Returns the metrics of the audit service in this process; those of checkpoints as the database has them. */
export function auditMetrics({ database, appender, verifier, readers }: AuditService): Collect {
  return async () => {
    const { requests, entries } = appender.done;
    const busy = Object.entries(readers.busy).map(([threads, value]) => ({ labels: { threads }, value }));
    const pending = await database
      .tables<AuditTables>()
      .selectFrom('checkpoints')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('status', '=', 'pending')
      .executeTakeFirstOrThrow();
    return [
      counter('audit_append_requests_total', 'Requests whose entries were appended.', requests),
      counter('audit_entries_appended_total', 'Entries that were appended.', entries),
      verifier.durations.family(),
      gauge('audit_pending_checkpoints', 'Checkpoints that wait for their time stamp.', pending.count),
      gauge('audit_thread_tasks', 'Tasks of the threads that read and print.', busy),
    ];
  };
}
