import { sql } from 'kysely';
import type { WireStats } from '../../core/wire.ts';
import type { Database } from '../database/database.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The numbers of the dashboard as they are at `now`. */
export async function readStats(database: Database, now: Date): Promise<WireStats> {
  const since = new Date(now.getTime() - DAY_MS).toISOString();
  // Only streams that grew are counted entry by entry, through the index by time.
  const { rows } = await sql<WireStats>`
    SELECT
      (SELECT count(*) FROM streams) AS streams,
      (SELECT coalesce(sum(entry_count), 0) FROM streams) AS entries,
      (SELECT coalesce(sum((SELECT count(*) FROM entries e WHERE e.stream_no = s.stream_no AND e.timestamp >= ${since})), 0)
         FROM streams s WHERE s.last_entry_at >= ${since}) AS entries_24h,
      (SELECT count(*) FROM streams JOIN verifications USING (verification_no) WHERE verified = 1) AS verified_streams,
      (SELECT count(*) FROM streams JOIN verifications USING (verification_no) WHERE verified = 0) AS failed_streams,
      (SELECT count(*) FROM streams WHERE verification_no IS NULL) AS unverified_streams,
      (SELECT count(*) FROM checkpoints) AS checkpoints,
      (SELECT count(*) FROM checkpoints WHERE status = 'pending') AS pending_anchors,
      (SELECT count(*) FROM packages) AS evidence_packages`.execute(database.tables());
  const [stats] = rows;
  if (stats === undefined) throw new Error('a query without a table returned no row');
  return stats;
}
