import type { Job } from '../jobs/scheduler.ts';
import type { EndpointDeps } from './deps.ts';
import { EventWriting } from './event-writing.ts';
import { changeEndpoint, endpointRow, STALE_AFTER_INTERVALS } from './host-rows.ts';
import { severityOfChain } from './rules.ts';
import type { EndpointTables } from './tables.ts';

const EVERY_MS = 60_000;
/** Maximum number of endpoints that are examined at once. */
const AT_ONCE = 200;

/** Returns the job that finds endpoints without a report for three intervals. */
export function staleJob(deps: EndpointDeps): Job {
  return {
    name: 'endpoints/stale',
    everyMs: EVERY_MS,
    atMostMs: EVERY_MS,
    async run() {
      while ((await markSome(deps)) === AT_ONCE);
    },
  };
}

async function markSome(deps: EndpointDeps): Promise<number> {
  const { database, clock } = deps;
  const now = clock().toISOString();
  const endpoints = database.tables<EndpointTables>().selectFrom('endpoints').select('endpoint_no');
  const due = await endpoints.where('due_at', '<=', now).orderBy('due_at').limit(AT_ONCE).execute();
  for (const { endpoint_no } of due) await mark(deps, endpoint_no, now);
  return due.length;
}

function mark(deps: EndpointDeps, endpointNo: number, now: string): Promise<void> {
  return deps.database.write(async (transaction) => {
    const endpoint = await endpointRow(transaction, endpointNo);
    // The endpoint has reported in the meantime.
    if (endpoint.due_at === null || endpoint.due_at > now) return;
    await changeEndpoint(transaction, endpoint, { due_at: null, stale_at: now });
    const events = await EventWriting.begin(transaction, deps, endpoint, 'reports');
    const { received_at, due_at, scan_interval_seconds } = endpoint;
    events.raiseOfReports({
      type: 'stale',
      severity: severityOfChain('stale'),
      expected: { report_by: due_at, scan_interval_seconds, intervals: STALE_AFTER_INTERVALS },
      observed: { last_report_at: received_at },
    });
    await events.write();
  });
}
