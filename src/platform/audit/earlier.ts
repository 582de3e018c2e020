import { sql } from 'kysely';
import type { Columns, Database, Transaction } from '../database/database.ts';
import { keyedRequest } from '../idempotency/keyed-results.ts';
import { SCOPES } from '../scopes.ts';
import { lockHeads, moveHeads } from './repository.ts';

/** What the first form of the database had; SQLite alone had it. Their names begin with `earlier_` while they are moved. */
const TABLES = ['streams', 'entries', 'checkpoints', 'packages', 'idempotency', 'api_keys'];

/** What goes with a table when it is renamed, and would be in the way of the new one. */
const LEFTOVERS = [
  'DROP TRIGGER entries_no_update',
  'DROP TRIGGER entries_no_delete',
  'DROP INDEX entries_by_time',
  'DROP INDEX checkpoints_by_stream',
  'DROP INDEX checkpoints_pending',
  'DROP TABLE migrations',
  'DROP TABLE migrations_lock',
];

/** Puts the tables of the first form aside, so that those of this version can be made. Does nothing to any other database. */
export async function setAside(database: Database): Promise<void> {
  if (database.dialect !== 'sqlite' || !(await hasTable(database, 'migrations'))) return;
  await database.write(async (transaction) => {
    for (const statement of LEFTOVERS) await run(transaction, statement);
    for (const table of TABLES) await run(transaction, `ALTER TABLE ${table} RENAME TO earlier_${table}`);
  });
}

/**
 * Moves what was put aside into the tables of this version: entries as they are, byte for byte. Checks are not moved: what
 * they found they found elsewhere, so every stream is unverified until Verify runs again. All or nothing.
 */
export async function bringOver(database: Database): Promise<void> {
  if (database.dialect !== 'sqlite' || !(await hasTable(database, 'earlier_streams'))) return;
  await database.write(async (transaction) => {
    for (const statement of MOVED) await run(transaction, statement);
    await moveKeys(transaction);
    await sealHeads(transaction);
    // Whoever refers to others goes first.
    for (const table of TABLES.toReversed()) await run(transaction, `DROP TABLE earlier_${table}`);
  });
}

const STREAM_NO = '(SELECT stream_no FROM streams WHERE streams.stream_id = earlier.stream_id)';

const MOVED = [
  `INSERT INTO streams (stream_id, entry_count, head_sequence, head_hash, created_at, last_entry_at)
    SELECT stream_id, entry_count, head_sequence, head_hash, created_at, last_entry_at FROM earlier_streams
    ORDER BY created_at, stream_id`,
  `INSERT INTO entries (stream_no, sequence, entry_id, timestamp, occurred_at, actor, action, resource_type, resource_id,
      metadata, prev_hash, seal_key_id, hash, seal)
    SELECT ${STREAM_NO}, sequence, entry_id, timestamp, occurred_at, actor, action, resource_type, resource_id,
      metadata, prev_hash, seal_key_id, hash, seal FROM earlier_entries AS earlier ORDER BY timestamp, stream_id, sequence`,
  `INSERT INTO checkpoints (ordinal, checkpoint_id, stream_no, sequence, hash, created_at, status, authority, tsa_url,
      gen_time, token)
    SELECT ordinal, checkpoint_id, ${STREAM_NO}, sequence, hash, created_at, status, authority, tsa_url, gen_time, token
    FROM earlier_checkpoints AS earlier`,
  `INSERT INTO packages (package_id, stream_no, title, created_at, entry_count, first_sequence, last_sequence, head,
      summary, pdf)
    SELECT package_id, ${STREAM_NO}, title, created_at, entry_count, first_sequence, last_sequence, head, summary, pdf
    FROM earlier_packages AS earlier`,
  // Each of them could do everything.
  `INSERT INTO api_keys (key_id, sha256, name, scopes, created_at, revoked_at)
    SELECT key_id, sha256, name, '${SCOPES.join(' ')}', created_at, revoked_at FROM earlier_api_keys`,
];

interface EarlierKey {
  scope: string;
  key: string;
  body_sha256: string;
  result: string;
  created_at: string;
}

const COLUMNS: Columns = { request: 'text', body_sha256: 'text', result: 'text', until: 'text' };

/** A day: for so long a key of a package is known. */
const PACKAGE_KEY_MS = 24 * 60 * 60 * 1000;

/** Keys of entries and of whole requests: who repeats one still repeats it. */
async function moveKeys(transaction: Transaction): Promise<void> {
  const { rows } = await sql<EarlierKey>`SELECT * FROM earlier_idempotency`.execute(transaction.tables());
  const moved = new Map(rows.flatMap((row) => toKeyedResult(row, rows)).map((row) => [row.request, row]));
  await transaction.insertAll('keyed_results', COLUMNS, [...moved.values()]);
}

function toKeyedResult({ scope, key, body_sha256, result, created_at }: EarlierKey, all: readonly EarlierKey[]) {
  const row = (name: string, place: string, until: string | null) => [
    { request: keyedRequest(name, key, null).id, body_sha256, result: place, until },
  ];
  if (scope.startsWith('entry/'))
    return row('audit/entries', JSON.stringify([scope.slice('entry/'.length), Number(result)]), null);
  if (scope === 'entries') return row('audit/entries/batch', JSON.stringify(placesOf(key, all)), null);
  if (scope === 'evidence')
    return row('audit/evidence', result, new Date(Date.parse(created_at) + PACKAGE_KEY_MS).toISOString());
  return [];
}

/** The entries of a whole request stood one by one, under its key and their place in it. */
function placesOf(key: string, all: readonly EarlierKey[]): [string, number][] {
  const prefix = `${key}#`;
  return all
    .filter((row) => row.scope.startsWith('request/') && row.key.startsWith(prefix))
    .toSorted((a, b) => Number(a.key.slice(prefix.length)) - Number(b.key.slice(prefix.length)))
    .map((row) => [row.scope.slice('request/'.length), Number(row.result)]);
}

async function sealHeads(transaction: Transaction): Promise<void> {
  const { rows } = await sql<{ stream_id: string }>`SELECT stream_id FROM earlier_streams`.execute(
    transaction.tables(),
  );
  const heads = await lockHeads(
    transaction,
    rows.map(({ stream_id }) => stream_id),
  );
  await moveHeads(transaction, [...heads.values()]);
}

async function hasTable(database: Database, name: string): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${name}`.execute(
    database.tables(),
  );
  return rows.length > 0;
}

async function run(transaction: Transaction, statement: string): Promise<void> {
  await sql.raw(statement).execute(transaction.tables());
}
