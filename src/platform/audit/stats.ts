import { sql } from 'kysely';
import type { WireStats } from '../../core/wire.ts';
import type { Reader } from '../database/database.ts';
import { hourOf } from './hours.ts';
import type { RowSeals } from './row-seals.ts';
import { readTotals } from './totals.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

type Counted = Omit<WireStats, 'verified_streams' | 'failed_streams' | 'unverified_streams' | 'missing_streams'>;

/**
 * The numbers of the dashboard as they are at `now`. A stream that was removed with all its rows leaves nothing behind
 * but the count of streams, which is sealed: it is held against those that are there.
 */
export async function readStats(database: Reader, seals: RowSeals, now: Date): Promise<WireStats> {
  const since = new Date(now.getTime() - DAY_MS).toISOString();
  const hour = hourOf(since);
  // Whole hours were counted when they were recorded; of the first one the part is counted that the day has.
  const { rows } = await sql<Counted>`
    SELECT
      (SELECT count(*) FROM streams) AS streams,
      (SELECT ${whole('sum(entry_count)')} FROM streams) AS entries,
      (SELECT ${whole('sum(entries)')} FROM entry_hours WHERE hour > ${hour}) +
        (SELECT count(*) FROM entry_hours h JOIN entries e ON e.stream_no = h.stream_no
          AND e.timestamp >= ${since} AND e.timestamp < ${`${hour}:60`} WHERE h.hour = ${hour}) AS entries_24h,
      (SELECT count(*) FROM checkpoints) AS checkpoints,
      (SELECT count(*) FROM checkpoints WHERE status = 'pending') AS pending_anchors,
      (SELECT count(*) FROM packages) AS evidence_packages`.execute(database.tables());
  const [counted] = rows;
  if (counted === undefined) throw new Error('a query without a table returned no row');
  const totals = await readTotals(database, seals);
  const { verified = 0, failed = 0 } = totals ?? {};
  return {
    ...counted,
    verified_streams: verified,
    failed_streams: failed,
    unverified_streams: Math.max(0, counted.streams - verified - failed),
    missing_streams: totals === null ? null : Math.max(0, totals.streams - counted.streams),
  };
}

/** Sums of PostgreSQL are of a kind that may have fractions. */
function whole(sum: string) {
  return sql`CAST(coalesce(${sql.raw(sum)}, 0) AS bigint)`;
}
