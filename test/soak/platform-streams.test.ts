import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { DerivedSealKeys } from '../../src/platform/audit/seal-keys.ts';
import { RowSeals } from '../../src/platform/audit/sealed-rows.ts';
import { readAuditOverview, readStats } from '../../src/platform/audit/stats.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { migrateAll } from '../../src/platform/migrations.ts';
import { DATABASES } from '../platform/database/databases.ts';

const SIZES = [1_000, 10_000, 100_000] as const;
/** Bound on the time for ten times as many streams, apart from a constant cost. */
const MOST = 11;
const FLOOR_MS = 20;

const seals = new RowSeals(new DerivedSealKeys(Buffer.alloc(32)).ofRows());
const NOW = new Date();
const TIME = NOW.toISOString();
const DIGEST = 'a'.repeat(64);

/** Adds streams of one entry, each with a check. Their seals are invalid, which does not change the work. */
async function fill(database: Database, count: number): Promise<void> {
  const numbers =
    database.dialect === 'sqlite'
      ? `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n`
      : `SELECT generate_series(1, ${count}) AS i`;
  const statements = [
    `INSERT INTO verifications (verification_id, stream_no, number, verified, began_at, checked_at, entries_checked,
        from_sequence, to_sequence, head_hash, sound_through, clock_corrections, failures, failures_sha256, seal)
      SELECT 'check ' || i, i, 1, CASE i % 100 WHEN 0 THEN 0 ELSE 1 END, '${TIME}', '${TIME}', 1, 1, 1, '${DIGEST}', 1, 0, '[]',
        '${DIGEST}', '${DIGEST}' FROM (${numbers}) AS numbers`,
    `INSERT INTO streams (stream_id, likeness, entry_count, head_sequence, head_hash, created_at, last_entry_at, checkpoint_count,
        anchored_count, verification_count, package_count, seal_epoch, head_seal, verification_no)
      SELECT 'stream ' || i, 'stream' || i, 1, 1, '${DIGEST}', '${TIME}', '${TIME}', 0, 0, 1, 0, 1, '${DIGEST}', i FROM (${numbers}) AS numbers`,
    `INSERT INTO entry_hours (hour, stream_no, entries) SELECT '${TIME.slice(0, 13)}', i, 1 FROM (${numbers}) AS numbers`,
    `INSERT INTO hour_totals (hour, lane, entries) VALUES ('${TIME.slice(0, 13)}', -1, ${count})`,
  ];
  await database.write(async (transaction) => {
    for (const statement of statements) await sql.raw(statement).execute(transaction.tables());
  });
  await sql.raw('ANALYZE').execute(database.forMigrations);
}

/** Returns the least cost of five. */
async function costOf(look: () => Promise<{ streams: number }>, streams: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const began = performance.now();
    expect((await look()).streams).toBe(streams);
    times.push(performance.now() - began);
  }
  return Math.min(...times);
}

test.each(DATABASES)(
  'ten times the streams cost statistics and front page at most eleven times as much, on %s',
  async (name, start) => {
    const place = await start();
    try {
      const costs: { stats: number; front: number }[] = [];
      for (const size of SIZES) {
        const { database } = await place.create();
        await migrateAll(database);
        await fill(database, size);
        const stats = await costOf(() => database.snapshot((reader) => readStats(reader, seals, NOW)), size);
        costs.push({ stats, front: await costOf(() => readAuditOverview(database, seals, NOW), size) });
      }
      const figures = costs.map(({ stats, front }, at) => `${SIZES[at]}: ${stats.toFixed(1)}, ${front.toFixed(1)} ms`);
      process.stdout.write(`${name}: statistics and front page: ${figures.join('; ')}\n`);
      for (const what of ['stats', 'front'] as const)
        for (const [at, cost] of costs.entries())
          expect(cost[what]).toBeLessThan(MOST * Math.max(costs[at - 1]?.[what] ?? 0, FLOOR_MS));
    } finally {
      await place.close();
    }
  },
  300_000,
);
