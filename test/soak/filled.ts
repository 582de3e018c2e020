import { sql } from 'kysely';
import { addZone, nextZone, readZone } from '../../src/platform/audit/entry-index.ts';
import type { Database } from '../../src/platform/database/database.ts';

export const STREAMS = 5000;
export const NOW = new Date();
/** Entries are evenly spread over a month. */
const MONTH_MS = 30 * 24 * 3_600_000;
const DIGEST = 'a'.repeat(64);

/** Returns the time of an entry by its number. */
export function timeOf(number: number, entries: number): string {
  return new Date(NOW.getTime() - MONTH_MS + (number * MONTH_MS) / entries).toISOString();
}

function numbersOn({ dialect }: Database, from: number, to: number): string {
  return dialect === 'sqlite'
    ? `WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${to}) SELECT i FROM n`
    : `SELECT i FROM generate_series(${from}, ${to}) AS n (i)`;
}

async function run(database: Database, statements: readonly string[]): Promise<void> {
  await database.write(async (transaction) => {
    for (const statement of statements) await sql.raw(statement).execute(transaction.tables());
  });
}

async function triggerOf(database: Database): Promise<string> {
  const { rows } = await sql<{ sql: string }>`SELECT sql FROM sqlite_master WHERE name = 'entries_no_replace'`.execute(
    database.tables(),
  );
  return rows[0]?.sql ?? '';
}

/** Adds entries that are no chain but as large as one, with actors and resources of any frequency, in `STREAMS` streams. */
export async function fill(database: Database, entries: number): Promise<void> {
  const isSqlite = database.dialect === 'sqlite';
  const start = (NOW.getTime() - MONTH_MS) / 1000;
  const seconds = `${start} + i * ${MONTH_MS / 1000 / entries}`;
  const time = isSqlite
    ? `strftime('%Y-%m-%dT%H:%M:%fZ', ${seconds}, 'unixepoch')`
    : `to_char(to_timestamp(${seconds}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const trigger = isSqlite ? await triggerOf(database) : null;
  const each = Math.ceil(entries / STREAMS);
  await run(database, [
    // It would look for a duplicate of every row.
    ...(trigger === null ? [] : ['DROP TRIGGER entries_no_replace']),
    `INSERT INTO streams (stream_id, likeness, entry_count, head_sequence, head_hash, created_at, last_entry_at,
        checkpoint_count, anchored_count, verification_count, package_count, seal_epoch, head_seal)
      SELECT 'stream-' || i, 'likeness-' || i, ${each}, ${each}, '${DIGEST}', '${timeOf(0, entries)}', '${timeOf(entries, entries)}',
        0, 0, 0, 0, 1, '${DIGEST}'
      FROM (${numbersOn(database, 1, STREAMS)}) AS numbers`,
  ]);
  const { rows } = await sql<{ first: number }>`
    SELECT min(stream_no) AS first FROM streams WHERE stream_id LIKE 'stream-%'`.execute(database.tables());
  const first = rows[0]?.first;
  for (let from = 1; from <= entries; from += 200_000) {
    const to = Math.min(entries, from + 199_999);
    await run(database, [
      `INSERT INTO entries (stream_no, sequence, entry_id, timestamp, actor, action, resource_type, resource_id,
          recorded_by, metadata, prev_hash, seal_key_id, hash, seal)
        SELECT ${first} + i % ${STREAMS}, 1 + i / ${STREAMS}, 'entry-' || i, ${time}, 'user-' || (i * 7 % 997) || '@example.com',
          CASE WHEN i % 3 = 0 THEN 'object.read' WHEN i % 50000 = 7 THEN 'key.deleted' ELSE 'object.write' END, 'bucket', 'object/' || i, 'key:k',
          '{"address":"10.0.' || (i % 256) || '.' || (i / 256 % 256) || '","number":' || i
            || ',"reason":"as long as what people write into it"}',
          '${DIGEST}', 'e1-0', '${DIGEST}', '${DIGEST}' FROM (${numbersOn(database, from, to)}) AS numbers`,
    ]);
  }
  await run(database, [
    `INSERT INTO entry_hours (hour, stream_no, entries) SELECT substr(timestamp, 1, 13), stream_no, count(*)
      FROM entries WHERE stream_no >= ${first} GROUP BY 1, 2`,
    `INSERT INTO hour_totals (hour, lane, entries) SELECT hour, -1, sum(entries) FROM entry_hours
      WHERE stream_no >= ${first} GROUP BY hour`,
    ...(trigger === null ? [] : [trigger]),
  ]);
}

/** Adds all entries to the index of lists. */
export async function index(database: Database): Promise<void> {
  for (let zone = await nextZone(database); zone !== null; zone = await nextZone(database))
    await addZone(database, await readZone(database, zone));
}
