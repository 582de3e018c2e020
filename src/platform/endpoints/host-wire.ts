import { sql } from 'kysely';
import type { ReportHead } from '../../sensor/report/head.ts';
import type { Database, Reader } from '../database/database.ts';
import { pick } from '../database/table.ts';
import type { HostStatus } from './enums.ts';
import type { Endpoint } from './host-rows.ts';
import { MISSED_WITHIN_MS, missedScans } from './rules.ts';
import type { EndpointTables } from './tables.ts';
import type { WireHost } from './wire/hosts.ts';
import type { EndpointStats } from './wire/reports.ts';

/** Converts endpoints to their wire form. */
export async function hostsToWire(reader: Reader, endpoints: readonly Endpoint[], now: Date): Promise<WireHost[]> {
  if (endpoints.length === 0) return [];
  const numbers = endpoints.map(({ endpoint_no }) => endpoint_no);
  const [times, events] = [await reportTimes(reader, numbers, now), await eventCounts(reader, numbers)];
  const scans = await lastScans(reader, endpoints);
  const baselines = await activeBaselines(reader, endpoints);
  const checks = await lastChecks(reader, numbers);
  return endpoints.map((endpoint) => {
    const { endpoint_no } = endpoint;
    const status = statusOfHost(endpoint);
    return {
      ...pick(endpoint, ['endpoint_id', 'name', 'scan_interval_seconds', 'enrolled_at', 'stale_at']),
      status,
      baseline: baselines.get(endpoint.baseline_no ?? 0) ?? null,
      roots: JSON.parse(endpoint.roots) as string[],
      other_filesystems: JSON.parse(endpoint.other_filesystems) as string[],
      last_report: scans.get(endpoint.last_scan_no ?? 0) ?? null,
      missed_scans: missedOf(endpoint, times.get(endpoint_no) ?? [], now),
      chain: { number: endpoint.chain, public_key: endpoint.public_key, went_back_at: endpoint.went_back_at },
      events: events.get(endpoint_no) ?? countBySeverity([]),
      isolation: isolationOf(endpoint),
      retirement: retirementOf(endpoint),
      last_check: checks.get(endpoint_no) ?? null,
      message: messageOf(endpoint, status),
    };
  });
}

function statusOfHost({ retired_at, stale_at, received_at }: Endpoint): HostStatus {
  if (retired_at !== null) return 'retired';
  if (stale_at !== null) return 'stale';
  return received_at === null ? 'waiting' : 'reporting';
}

function isolationOf({ isolated_at, isolated_by, isolated_reason }: Endpoint): WireHost['isolation'] {
  return {
    isolated: isolated_at !== null,
    effect: 'label_only',
    network_action: 'none',
    since: isolated_at,
    by: isolated_by,
    reason: isolated_reason,
  };
}

function retirementOf({ retired_at: at, retired_by: by, retired_reason: reason }: Endpoint): WireHost['retirement'] {
  return at === null || by === null || reason === null ? null : { at, by, reason };
}

function messageOf({ baseline_no, went_back_at }: Endpoint, status: HostStatus): string {
  if (status === 'retired') return 'It is retired: it no longer reports, and its earlier reports are kept.';
  if (went_back_at !== null)
    return 'Its reports went back to earlier numbers: it was restored from a snapshot, or another machine has its key. Find out which, then start a new chain.';
  if (status === 'stale') return 'It stopped reporting, so its state is unknown.';
  if (status === 'waiting') return 'It has not reported yet. Start its sensor with its token.';
  if (baseline_no === null)
    return 'It has no active baseline: its scans are stored but raise no events. Propose its last scan as a baseline.';
  return 'Its scans are compared with its baseline.';
}

function missedOf(endpoint: Endpoint, received: readonly string[], now: Date): number {
  const { enrolled_at, received_at, scan_interval_seconds, retired_at } = endpoint;
  if (retired_at !== null) return 0;
  const since = new Date(now.getTime() - MISSED_WITHIN_MS).toISOString();
  const begin = enrolled_at > since ? enrolled_at : since;
  // A last report from before the period counts from the start of the period.
  const times = received.length === 0 && received_at !== null ? [begin] : [begin, ...received];
  return missedScans(
    times.map((time) => new Date(time)),
    now,
    scan_interval_seconds,
  );
}

async function reportTimes(reader: Reader, numbers: number[], now: Date): Promise<Map<number, string[]>> {
  const since = new Date(now.getTime() - MISSED_WITHIN_MS).toISOString();
  const scans = reader.tables<EndpointTables>().selectFrom('endpoint_scans').select(['endpoint_no', 'received_at']);
  const recent = scans.where('endpoint_no', 'in', numbers).where('received_at', '>', since);
  const rows = await recent.orderBy('received_at').execute();
  const byEndpoint = Map.groupBy(rows, ({ endpoint_no }) => endpoint_no);
  return new Map([...byEndpoint].map(([no, times]) => [no, times.map(({ received_at }) => received_at)]));
}

async function eventCounts(reader: Reader, numbers: number[]): Promise<Map<number, WireHost['events']>> {
  const events = reader.tables<EndpointTables>().selectFrom('endpoint_events').where('endpoint_no', 'in', numbers);
  const counted = events.where('resolved_at', 'is', null).groupBy(['endpoint_no', 'severity']);
  const rows = await counted.select(['endpoint_no', 'severity', sql<number>`COUNT(*)`.as('count')]).execute();
  const byEndpoint = Map.groupBy(rows, ({ endpoint_no }) => endpoint_no);
  return new Map([...byEndpoint].map(([no, counts]) => [no, countBySeverity(counts)]));
}

async function lastScans(reader: Reader, endpoints: readonly Endpoint[]) {
  const numbers = endpoints.map(({ last_scan_no }) => last_scan_no).filter((no) => no !== null);
  const scans = reader.tables<EndpointTables>().selectFrom('endpoint_scans').selectAll();
  const rows = numbers.length === 0 ? [] : await scans.where('scan_no', 'in', numbers).execute();
  return new Map(
    rows.map(({ scan_no, scan_id, sequence, received_at, complete, head }) => {
      const { root_hash, line_count } = JSON.parse(head) as ReportHead;
      return [scan_no, { scan_id, sequence, received_at, root_hash, line_count, complete: complete === 1 }] as const;
    }),
  );
}

async function activeBaselines(reader: Reader, endpoints: readonly Endpoint[]) {
  const numbers = endpoints.map(({ baseline_no }) => baseline_no).filter((no) => no !== null);
  const baselines = reader.tables<EndpointTables>().selectFrom('baselines');
  const shown = baselines.select(['baseline_no', 'baseline_id', 'version', 'name']);
  const rows = numbers.length === 0 ? [] : await shown.where('baseline_no', 'in', numbers).execute();
  return new Map(rows.map(({ baseline_no, ...baseline }) => [baseline_no, baseline]));
}

async function lastChecks(reader: Reader, numbers: number[]) {
  const tables = reader.tables<EndpointTables>();
  const checks = tables.selectFrom('endpoint_checks').select(({ fn }) => fn.max('check_no').as('check_no'));
  const newest = checks.where('endpoint_no', 'in', numbers).groupBy('endpoint_no');
  const rows = await tables.selectFrom('endpoint_checks').selectAll().where('check_no', 'in', newest).execute();
  return new Map(
    rows.map(({ endpoint_no, checked_at, reports: reports_checked, findings }) => {
      return [endpoint_no, { checked_at, verified: findings === 0, reports_checked, findings }] as const;
    }),
  );
}

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
  const count = sql<number>`COUNT(*)`.as('count');
  const proposals = tables.selectFrom('baselines').where('status', '=', 'proposed');
  const proposed = await proposals.select(count).executeTakeFirstOrThrow();
  const since = new Date(now.getTime() - DAY_MS).toISOString();
  const scans = tables.selectFrom('endpoint_scans').where('received_at', '>', since);
  const reports = await scans.select(count).executeTakeFirstOrThrow();
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

function countBySeverity(rows: readonly { severity: string; count: number }[]): WireHost['events'] {
  const counts = Object.fromEntries(rows.map(({ severity, count }) => [severity, Number(count)]));
  return { low: 0, medium: 0, high: 0, critical: 0, ...counts };
}
