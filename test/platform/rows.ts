import { RowSeals } from '../../src/platform/audit/sealed-rows.ts';
import { openSealKeys } from '../../src/platform/setup.ts';

const ZEROS = '0'.repeat(64);

/**
 * Returns the statements that insert this many rows, a millisecond apart. The rows are no chain, but as large as one.
 */
export async function rowsOf(dataDir: string, streamId: string, count: number, start: Date): Promise<string[]> {
  const seals = new RowSeals((await openSealKeys(dataDir)).ofRows());
  const first = start.toISOString();
  const last = new Date(start.getTime() + count).toISOString();
  const head = { streamId, createdAt: first, sequence: count, hash: ZEROS, count, lastEntryAt: last };
  const seal = seals.head({ ...head, checkpoints: 0, anchored: 0, verifications: 0, packages: 0, sealEpoch: 1 });
  const number = `(SELECT stream_no FROM streams WHERE stream_id = '${streamId}')`;
  const time = `strftime('%Y-%m-%dT%H:%M:%fZ', ${start.getTime() / 1000} + n / 1000.0, 'unixepoch')`;
  return [
    `INSERT INTO streams (stream_id, likeness, entry_count, head_sequence, head_hash, created_at, last_entry_at, checkpoint_count,
      anchored_count, verification_count, package_count, seal_epoch, head_seal) VALUES ('${streamId}', '${streamId}', ${count}, ${count}, '${ZEROS}', '${first}', '${last}', 0, 0, 0, 0, 1, '${seal}')`,
    // The trigger would look for a duplicate of every row.
    'DROP TRIGGER IF EXISTS entries_no_replace',
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
      INSERT INTO entries (stream_no, sequence, entry_id, timestamp, actor, action, resource_type, resource_id, recorded_by,
        metadata, prev_hash, seal_key_id, hash, seal)
      SELECT ${number}, n, 'e' || n, ${time}, 'actor-' || (n % 100), 'object.read', 'bucket', 'r/' || n, 'key:k',
        '{"n":' || n || ',"note":"as long as what people write into it"}', '${ZEROS}', 'e1-0', '${ZEROS}', '${ZEROS}'
      FROM numbers`,
    `INSERT INTO entry_hours (hour, stream_no, entries) SELECT substr(timestamp, 1, 13), stream_no, count(*) FROM entries
      WHERE stream_no = ${number} GROUP BY 1, 2`,
    `INSERT INTO hour_totals (hour, lane, entries) SELECT hour, -1, sum(entries) FROM entry_hours WHERE stream_no = ${number} GROUP BY hour`,
  ];
}
