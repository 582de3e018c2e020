import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { EndpointTables } from './tables.ts';
import type { EndpointStats } from './wire/verification.ts';

const DAY_MS = 24 * 60 * 60_000;

/** Counts all endpoints by state. */
export async function readEndpointStats(database: Database, now: Date): Promise<EndpointStats> {
  const tables = database.tables<EndpointTables>();
  const hosts = await tables
    .selectFrom('endpoints')
    .select([
      sql<number>`COUNT(*)`.as('hosts'),
      sql<number>`COUNT(CASE WHEN received_at IS NULL AND stale_at IS NULL THEN 1 END)`.as('waiting'),
      sql<number>`COUNT(stale_at)`.as('stale'),
      sql<number>`COUNT(isolated_at)`.as('isolated'),
      sql<number>`COUNT(CASE WHEN baseline_no IS NULL THEN 1 END)`.as('without_baseline'),
      sql<string | null>`MAX(received_at)`.as('last_report_at'),
    ])
    .where('retired_at', 'is', null)
    .executeTakeFirstOrThrow();
  const open = await tables
    .selectFrom('endpoint_events')
    .select(['severity', sql<number>`COUNT(*)`.as('count'), sql<string>`MIN(first_seen)`.as('since')])
    .where('status', '=', 'open')
    .groupBy('severity')
    .execute();
  const proposed = await tables
    .selectFrom('baselines')
    .select(sql<number>`COUNT(*)`.as('count'))
    .where('status', '=', 'proposed')
    .executeTakeFirstOrThrow();
  const reports = await tables
    .selectFrom('endpoint_scans')
    .select(sql<number>`COUNT(*)`.as('count'))
    .where('received_at', '>', new Date(now.getTime() - DAY_MS).toISOString())
    .executeTakeFirstOrThrow();
  const { last_report_at, ...counts } = hosts;
  return {
    ...(Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, Number(count)])) as typeof counts),
    proposed_baselines: Number(proposed.count),
    reports_24h: Number(reports.count),
    last_report_at,
    open_events: countBySeverity(open),
    open_since: open.map(({ since }) => since).toSorted()[0] ?? null,
  };
}

function countBySeverity(open: readonly { severity: string; count: number }[]): EndpointStats['open_events'] {
  const counts = Object.fromEntries(open.map(({ severity, count }) => [severity, Number(count)]));
  return { low: 0, medium: 0, high: 0, critical: 0, ...counts };
}
