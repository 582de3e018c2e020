import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { DecoyPlace } from './decoys/decoy.ts';
import { openBySeverity, readOverview } from './overview.ts';
import type { TrapTables } from './tables.ts';
import type { TrapStats } from './wire.ts';

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
