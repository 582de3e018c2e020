import { sql } from 'kysely';
import type { Reader } from '../database/database.ts';
import { hourOf } from './hours.ts';
import { readLastChecks } from './last-checks.ts';
import type { RowSeals } from './row-seals.ts';
import type { WireStats } from './wire.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

type Counted = Pick<WireStats, 'entries_24h' | 'checkpoints' | 'pending_anchors' | 'evidence_packages'>;

/**
 * The numbers of the dashboard as they are at `now`. A stream that was removed with all its rows leaves nothing behind
 * but the count of streams, which is sealed: it is compared with those that are there.
 * @param reader of one state.
 */
export async function readStats(reader: Reader, seals: RowSeals, now: Date): Promise<WireStats> {
  const since = new Date(now.getTime() - DAY_MS).toISOString();
  const hour = hourOf(since);
  // Whole hours were counted when they were recorded; of the first one the part is counted that the day has.
  const { rows } = await sql<Counted>`
    SELECT
      (SELECT CAST(coalesce(sum(entries), 0) AS bigint) FROM entry_hours WHERE hour > ${hour}) +
        (SELECT count(*) FROM entry_hours h JOIN entries e ON e.stream_no = h.stream_no
          AND e.timestamp >= ${since} AND e.timestamp < ${`${hour}:60`} WHERE h.hour = ${hour}) AS entries_24h,
      (SELECT count(*) FROM checkpoints) AS checkpoints,
      (SELECT count(*) FROM checkpoints WHERE status = 'pending') AS pending_anchors,
      (SELECT count(*) FROM packages) AS evidence_packages`.execute(reader.tables());
  const [counted] = rows;
  if (counted === undefined) throw new Error('a query without a table returned no row');
  const { streams, entries, verified, failed, missing_streams, checks_changed } = await readLastChecks(reader, seals);
  const known = missing_streams === null ? { verified: 0, failed: 0 } : { verified, failed };
  return {
    streams,
    entries,
    ...counted,
    verified_streams: known.verified,
    failed_streams: known.failed,
    unverified_streams: streams - known.verified - known.failed,
    missing_streams,
    checks_changed,
  };
}
