import { type Collect, counter, gauge } from '../../core/exposition.ts';
import type { PlatformClock } from '../clock/clock.ts';
import type { Database } from '../database/database.ts';
import type { TimestampAuthority } from '../timestamp/exchange.ts';
import { Appender } from './appender.ts';
import { type AnchorFailed, Checkpoints } from './checkpoints.ts';
import { EntryIndexing } from './entry-indexing.ts';
import { Evidence } from './evidence.ts';
import { ReaderThreads } from './reader-threads.ts';
import type { DerivedSealKeys } from './seal-keys.ts';
import { RowSeals } from './sealed-rows.ts';
import type { AuditTables } from './tables.ts';
import { Verifier } from './verifications.ts';

/** Dependencies of the audit service's routes. */
export interface AuditService {
  database: Database;
  seals: RowSeals;
  clock: () => Date;
  appender: Appender;
  verifier: Verifier;
  checkpoints: Checkpoints;
  evidence: Evidence;
  readers: ReaderThreads;
  indexing: EntryIndexing;
}

interface AuditParts {
  database: Database;
  keys: DerivedSealKeys;
  authority: TimestampAuthority;
  clock: () => Date;
  time: Pick<PlatformClock, 'requireKnown'>;
  onAnchorFailure: AnchorFailed;
}

export function assembleAudit({ database, keys, authority, clock, time, onAnchorFailure }: AuditParts): AuditService {
  const seals = new RowSeals(keys.ofRows());
  const deps = { database, seals, clock };
  const readers = new ReaderThreads(database, keys);
  return {
    ...deps,
    readers,
    indexing: new EntryIndexing({
      database,
      read: (zone) => readers.read('zone', zone, new AbortController().signal),
    }),
    checkpoints: new Checkpoints({ ...deps, authority, onFailure: onAnchorFailure }),
    appender: new Appender(database, { keys, seals, clock }, () => time.requireKnown()),
    verifier: new Verifier({ ...deps, inspect: (streamId, signal) => readers.read('inspect', streamId, signal) }),
    evidence: new Evidence({
      ...deps,
      settle: (order, signal) => readers.read('settle', order, signal),
      print: (row, signal) => readers.read('print', row, signal),
    }),
  };
}

/** Returns the metrics of the audit service in this process, and of the checkpoints in the database. */
export function auditMetrics({ database, appender, verifier, readers }: AuditService): Collect {
  return async () => {
    const { requests, entries } = appender.done;
    const busy = Object.entries(readers.busy).map(([threads, value]) => ({ labels: { threads }, value }));
    const checkpoints = database.tables<AuditTables>().selectFrom('checkpoints').where('status', '=', 'pending');
    const pending = await checkpoints.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
    return [
      counter('audit_append_requests_total', 'Requests whose entries were appended.', requests),
      counter('audit_entries_appended_total', 'Entries that were appended.', entries),
      verifier.durations.family(),
      gauge('audit_pending_checkpoints', 'Checkpoints without a time stamp.', pending.count),
      gauge('audit_thread_tasks', 'Running tasks of the threads that read and print.', busy),
    ];
  };
}
