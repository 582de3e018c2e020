import { sql } from 'kysely';
import { type AlertSeverity, SEVERITIES } from '../alert-enums.ts';
import type { Database } from '../database/database.ts';
import type { DecoyPlace } from './decoys/decoy.ts';
import { proofSince } from './rules.ts';
import type { TrapTables } from './tables.ts';
import type { TrapStats } from './wire.ts';

/** Summary of all traps. */
export interface TrapsOverview {
  open: { count: number; worst: AlertSeverity; since: string } | null;
  /** Traps that have not ended and are known to be planted. */
  planted: number;
  /** Traps with a channel that was not proved recently. */
  unproved: number;
  /** Traps that lead to a decoy that does not listen. */
  lost: number;
  /** Oldest of the last proofs of the channels; null if there is none. */
  proved_since: string | null;
}

/** @param places the decoys that listen. */
export async function readOverview(
  database: Database,
  places: readonly DecoyPlace[],
  now: Date,
): Promise<TrapsOverview> {
  const names = new Set(places.map(({ name }) => name));
  const standing = await plantedBy(database, now);
  const sum = (column: 'traps' | 'unproved', rows: typeof standing) =>
    rows.reduce((whole, row) => whole + Number(row[column]), 0);
  const lost = standing.filter(({ decoy }) => decoy !== null && !names.has(decoy));
  const proofs = standing.map(({ oldest }) => oldest).filter((at) => at !== null);
  return {
    open: await openDetections(database),
    planted: sum('traps', standing),
    unproved: sum('unproved', standing),
    lost: sum('traps', lost),
    proved_since: proofs.toSorted()[0] ?? null,
  };
}

/** Counts open detections by severity. */
function openBySeverity(database: Database) {
  return database
    .tables<TrapTables>()
    .selectFrom('detections')
    .select(['severity', sql<number>`COUNT(*)`.as('count'), sql<string>`MIN(first_seen)`.as('since')])
    .where('status', '=', 'open')
    .groupBy('severity')
    .execute();
}

async function openDetections(database: Database): Promise<TrapsOverview['open']> {
  const rows = await openBySeverity(database);
  const worst = SEVERITIES.findLast((each) => rows.some(({ severity }) => severity === each));
  if (worst === undefined) return null;
  const since = rows.map((row) => row.since).toSorted()[0] ?? '';
  return { count: rows.reduce((whole, { count }) => whole + Number(count), 0), worst, since };
}

/** Counts planted traps that have not ended, by their decoy. A trap that was used counts as planted. */
function plantedBy(database: Database, now: Date) {
  const tables = database.tables<TrapTables>();
  const proofs = tables
    .selectFrom('channel_proofs')
    .select(['trap_no', sql<string>`MIN(proved_at)`.as('oldest')])
    .groupBy('trap_no')
    .as('proofs');
  return tables
    .selectFrom('traps')
    .leftJoin(proofs, 'proofs.trap_no', 'traps.trap_no')
    .select([
      'decoy',
      sql<number>`COUNT(*)`.as('traps'),
      sql<number>`SUM(CASE WHEN oldest >= ${proofSince(now)} THEN 0 ELSE 1 END)`.as('unproved'),
      sql<string | null>`MIN(oldest)`.as('oldest'),
    ])
    .where('revoked_at', 'is', null)
    .where('rotated_at', 'is', null)
    .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now.toISOString())]))
    .where(({ or, eb }) => or([eb('confirmed_at', 'is not', null), eb('triggered_at', 'is not', null)]))
    .groupBy('decoy')
    .execute();
}

const DAY_MS = 24 * 60 * 60_000;
const COUNT = sql<number>`COUNT(*)`;

/** Counts all traps by state, and their uses. @param places the decoys that listen. */
export async function readTrapStats(database: Database, places: readonly DecoyPlace[], now: Date): Promise<TrapStats> {
  const tables = database.tables<TrapTables>();
  const { planted, unproved, lost, proved_since } = await readOverview(database, places, now);
  const traps = await tables.selectFrom('traps').select(COUNT.as('count')).executeTakeFirstOrThrow();
  const dayAgo = new Date(now.getTime() - DAY_MS).toISOString();
  const detections = await tables
    .selectFrom('detections')
    .select([
      COUNT.as('count'),
      sql<number>`COUNT(CASE WHEN detected_at > ${dayAgo} THEN 1 END)`.as('lately'),
      sql<string | null>`MAX(detected_at)`.as('last'),
    ])
    .executeTakeFirstOrThrow();
  const open = await openBySeverity(database);
  const bySeverity = Object.fromEntries(open.map(({ severity, count }) => [severity, Number(count)]));
  return {
    traps: Number(traps.count),
    planted,
    unproved,
    without_decoy: lost,
    proved_since,
    detections: Number(detections.count),
    detections_24h: Number(detections.lately),
    open_detections: { low: 0, medium: 0, high: 0, critical: 0, ...bySeverity },
    open_since: open.map(({ since }) => since).toSorted()[0] ?? null,
    last_detection_at: detections.last,
  };
}
