import { type Collect, counter, gauge } from '../metrics/families.ts';
import type { AuditService } from './service.ts';

/** How the audit service fares in this process. */
export function auditMetrics({ appender, verifier, readers }: AuditService): Collect {
  return () => {
    const { requests, entries } = appender.done;
    const busy = Object.entries(readers.busy).map(([threads, value]) => ({ labels: { threads }, value }));
    return [
      counter('audit_append_requests_total', 'Requests whose entries were appended.', requests),
      counter('audit_entries_appended_total', 'Entries that were appended.', entries),
      verifier.durations.family(),
      gauge('audit_thread_tasks', 'Tasks of the threads that read and print.', busy),
    ];
  };
}
