import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import canonicalize from 'canonicalize';
import { sealedHeadOf } from '../../src/platform/audit/head-rows.ts';
import { DerivedSealKeys } from '../../src/platform/audit/seal-keys.ts';
import { RowSeals } from '../../src/platform/audit/sealed-rows.ts';

/** Opens a platform's database, without the triggers that protect its entries. */
function openDatabase(dataDir: string): DatabaseSync {
  const database = new DatabaseSync(join(dataDir, 'platform.sqlite'));
  database.exec(
    'PRAGMA busy_timeout = 5000; DROP TRIGGER IF EXISTS entries_no_update; DROP TRIGGER IF EXISTS entries_no_delete',
  );
  return database;
}

/** Columns that the hash covers unchanged. */
const HASHED = [
  'action',
  'entry_id',
  'recorded_by',
  'resource_id',
  'resource_type',
  'seal_key_id',
  'sequence',
  'stream_id',
  'timestamp',
];

const NUMBER = '(SELECT stream_no FROM streams WHERE stream_id = ?)';

/**
 * Changes the actor of entry `from`, then hashes and seals that entry and all later ones, as a holder of the key can.
 */
export function rewriteHistory(dataDir: string, streamId: string, from: number, key: Uint8Array): void {
  const database = openDatabase(dataDir);
  const rows = database
    .prepare(
      'SELECT * FROM entries JOIN streams USING (stream_no) WHERE stream_id = ? AND sequence >= ? ORDER BY sequence',
    )
    .all(streamId, from);
  const write = database.prepare('UPDATE entries SET actor = ?, prev_hash = ?, hash = ?, seal = ? WHERE entry_id = ?');
  let previous = String(rows[0]?.['prev_hash']);
  for (const row of rows) {
    const { metadata, occurred_at } = row;
    const entry = {
      ...Object.fromEntries(HASHED.map((name) => [name, row[name]])),
      ...(occurred_at === null ? {} : { occurred_at }),
      metadata: JSON.parse(String(metadata)),
      actor: row['sequence'] === from ? 'somebody else' : row['actor'],
      prev_hash: previous,
    };
    const hash = createHash('sha256')
      .update(canonicalize(entry) ?? '')
      .digest('hex');
    const seal = createHmac('sha256', key).update(hash).digest('hex');
    write.run(String(entry.actor), previous, hash, seal, String(row['entry_id']));
    previous = hash;
  }
  database.prepare('UPDATE streams SET head_hash = ? WHERE stream_id = ?').run(previous, streamId);
  sealHead(database, dataDir, streamId);
  database.close();
}

/** Removes the entries after `last`, and updates the stream's row. */
export function cutOff(dataDir: string, streamId: string, last: number): void {
  const database = openDatabase(dataDir);
  database.prepare(`DELETE FROM entries WHERE stream_no = ${NUMBER} AND sequence > ?`).run(streamId, last);
  database
    .prepare(
      `UPDATE streams SET entry_count = ?1, head_sequence = ?1, last_entry_at = (SELECT timestamp FROM entries e WHERE e.stream_no = streams.stream_no AND sequence = ?1),
       head_hash = (SELECT hash FROM entries e WHERE e.stream_no = streams.stream_no AND sequence = ?1) WHERE stream_id = ?2`,
    )
    .run(last, streamId);
  sealHead(database, dataDir, streamId);
  database.close();
}

/** Seals a stream's row with the platform's master key. */
function sealHead(database: DatabaseSync, dataDir: string, streamId: string): void {
  const row = database.prepare('SELECT * FROM streams WHERE stream_id = ?').get(streamId);
  if (row === undefined) throw new Error('there is no such stream');
  const keys = new DerivedSealKeys(readFileSync(join(dataDir, 'master.key')));
  const seal = new RowSeals(keys.ofRows()).head(sealedHeadOf(row as unknown as Parameters<typeof sealedHeadOf>[0]));
  database.prepare('UPDATE streams SET head_seal = ? WHERE stream_id = ?').run(seal, streamId);
}

/** Replaces the seal of an entry. */
export function changeSeal(dataDir: string, streamId: string, sequence: number): void {
  const database = openDatabase(dataDir);
  database
    .prepare(`UPDATE entries SET seal = ? WHERE stream_no = ${NUMBER} AND sequence = ?`)
    .run('ab'.repeat(32), streamId, sequence);
  database.close();
}

/** Removes a stream and every trace of it. */
export function removeStream(dataDir: string, streamId: string): void {
  const database = openDatabase(dataDir);
  database.exec('PRAGMA foreign_keys = OFF');
  for (const table of ['entries', 'entry_hours', 'checkpoints', 'verifications', 'streams'])
    database.prepare(`DELETE FROM ${table} WHERE stream_no = ${NUMBER}`).run(streamId);
  database.close();
}
