import { type Selectable, sql } from 'kysely';
import type { WireCheckpoint, WirePackageHead } from '../../core/wire.ts';
import type { Columns, Database, Transaction } from '../database/database.ts';
import { KEY_LIFETIME_MS, keyedRequest } from '../idempotency/keyed-results.ts';
import { SCOPES } from '../scopes.ts';
import { createStreams, moveHeads, type StreamHead } from './repository.ts';
import type { CheckpointRow, RowSeals } from './row-seals.ts';
import type { AuditTables } from './schema.ts';
import { FIRST_EPOCH } from './seal-keys.ts';
import { addToTotals } from './totals.ts';

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
 * Moves what was put aside into the tables of this version: entries as they are, byte for byte. Rows get the seals that
 * they had not: what was changed of them before cannot be told any more. Checks are not moved, because what they found
 * they found elsewhere: every stream is unverified until Verify runs again. All or nothing.
 */
export async function bringOver(database: Database, seals: RowSeals): Promise<void> {
  if (database.dialect !== 'sqlite' || !(await hasTable(database, 'earlier_streams'))) return;
  await database.write(async (transaction) => {
    const streams = await moveStreams(transaction, seals);
    for (const statement of MOVED) await run(transaction, statement);
    for (const stream of streams) await movePackages(transaction, seals, stream);
    await moveKeys(transaction);
    // Whoever refers to others goes first.
    for (const table of TABLES.toReversed()) await run(transaction, `DROP TABLE earlier_${table}`);
  });
}

interface EarlierStream {
  stream_id: string;
  entry_count: number;
  head_sequence: number;
  head_hash: string;
  created_at: string;
  last_entry_at: string;
}

/** With their checkpoints, which their heads count. */
async function moveStreams(transaction: Transaction, seals: RowSeals): Promise<StreamHead[]> {
  const all = sql<EarlierStream>`SELECT * FROM earlier_streams ORDER BY created_at, stream_id`;
  const { rows } = await all.execute(transaction.tables());
  const heads: StreamHead[] = [];
  for (const row of rows) {
    const { stream_id: streamId, created_at: createdAt } = row;
    const counts = { sequence: row.head_sequence, hash: row.head_hash, count: row.entry_count };
    const head: StreamHead = {
      streamId,
      streamNo: null,
      createdAt,
      ...counts,
      lastEntryAt: row.last_entry_at,
      checkpoints: 0,
      anchored: 0,
      verifications: 0,
      sealEpoch: FIRST_EPOCH,
      isSound: true,
    };
    await createStreams(transaction, seals, [head]);
    await moveCheckpoints(transaction, seals, head);
    await moveHeads(transaction, seals, [head]);
    heads.push(head);
  }
  await addToTotals(transaction, seals, { streams: heads.length, verified: 0, failed: 0, reached: 0 });
  return heads;
}

async function moveCheckpoints(transaction: Transaction, seals: RowSeals, head: StreamHead): Promise<void> {
  const all = sql<
    Omit<CheckpointRow, 'number' | 'anchored_as' | 'seal' | 'stream_no'>
  >`SELECT * FROM earlier_checkpoints WHERE stream_id = ${head.streamId} ORDER BY ordinal`;
  const { rows } = await all.execute(transaction.tables());
  for (const { checkpoint_id, sequence, hash, created_at, status, authority, tsa_url, gen_time, token } of rows) {
    const row = {
      checkpoint_id,
      sequence,
      hash,
      created_at,
      status,
      authority,
      tsa_url,
      gen_time,
      token,
      number: ++head.checkpoints,
      anchored_as: status === 'anchored' ? ++head.anchored : null,
    };
    const seal = seals.checkpoint(row, head.streamId);
    const values = { ...row, stream_no: numberOf(head), seal };
    await transaction.tables<AuditTables>().insertInto('checkpoints').values(values).execute();
  }
}

/** The JSON form of the first version had its checkpoints beside its head; they are read from their rows now. */
async function movePackages(transaction: Transaction, seals: RowSeals, stream: StreamHead): Promise<void> {
  const all = sql<EarlierPackage>`SELECT * FROM earlier_packages WHERE stream_id = ${stream.streamId}`;
  const { rows } = await all.execute(transaction.tables());
  for (const { stream_id: _, pdf, head, ...rest } of rows) {
    const { checkpoints, ...facts } = JSON.parse(head) as WirePackageHead;
    const counts = await countsAt(transaction, numberOf(stream), checkpoints);
    const unsealed = { ...rest, ...counts, head: JSON.stringify(facts) };
    const seal = seals.package(unsealed, stream.streamId);
    const pdf_seal = pdf === null ? null : seals.pdf(rest.package_id, pdf);
    await transaction
      .tables<AuditTables>()
      .insertInto('packages')
      .values({ ...unsealed, stream_no: numberOf(stream), seal, json_sha256: null, json_seal: null, pdf, pdf_seal })
      .execute();
  }
}

type EarlierPackage = Pick<
  Selectable<AuditTables['packages']>,
  | 'package_id'
  | 'title'
  | 'created_at'
  | 'entry_count'
  | 'first_sequence'
  | 'last_sequence'
  | 'head'
  | 'summary'
  | 'pdf'
> & { stream_id: string };

/** How many checkpoints and anchors there were when a package was made that has these. */
async function countsAt(transaction: Transaction, streamNo: number, checkpoints: readonly WireCheckpoint[]) {
  const ids = checkpoints.map(({ checkpoint_id }) => checkpoint_id);
  const anchored = checkpoints.filter(({ anchor }) => anchor.status === 'anchored').map((each) => each.checkpoint_id);
  const rows = await transaction
    .tables<AuditTables>()
    .selectFrom('checkpoints')
    .select(['checkpoint_id', 'number', 'anchored_as'])
    .where('stream_no', '=', streamNo)
    .where(transaction.words.isAmong('checkpoint_id', ids))
    .execute();
  const as = rows.filter(({ checkpoint_id }) => anchored.includes(checkpoint_id)).map((row) => row.anchored_as ?? 0);
  return { checkpoints: Math.max(0, ...rows.map(({ number }) => number)), anchored: Math.max(0, ...as) };
}

function numberOf({ streamNo }: StreamHead): number {
  if (streamNo === null) throw new Error('a stream was not made before what belongs to it');
  return streamNo;
}

const STREAM_NO = '(SELECT stream_no FROM streams WHERE streams.stream_id = earlier.stream_id)';

const MOVED = [
  `INSERT INTO entries (stream_no, sequence, entry_id, timestamp, occurred_at, actor, action, resource_type, resource_id,
      metadata, prev_hash, seal_key_id, hash, seal)
    SELECT ${STREAM_NO}, sequence, entry_id, timestamp, occurred_at, actor, action, resource_type, resource_id,
      metadata, prev_hash, seal_key_id, hash, seal FROM earlier_entries AS earlier ORDER BY timestamp, stream_id, sequence`,
  `INSERT INTO entry_hours (hour, stream_no, entries)
    SELECT substr(timestamp, 1, 13), stream_no, count(*) FROM entries GROUP BY 1, 2`,
  // There were no scopes: a key could do everything.
  `INSERT INTO api_keys (key_id, sha256, name, scopes, created_at, revoked_at)
    SELECT key_id, sha256, name, '${SCOPES.join(' ')}', created_at, revoked_at FROM earlier_api_keys`,
];

interface EarlierKey {
  scope: string;
  key: string;
  result: string;
  created_at: string;
}

const COLUMNS: Columns = { request: 'text', body_sha256: 'text', result: 'text', until: 'text' };

/** Keys of entries and of whole requests: who repeats one still repeats it. Bodies were hashed in another form. */
async function moveKeys(transaction: Transaction): Promise<void> {
  const { rows } = await sql<EarlierKey>`SELECT * FROM earlier_idempotency`.execute(transaction.tables());
  const moved = new Map(rows.flatMap((row) => toKeyedResult(row, rows)).map((row) => [row.request, row]));
  await transaction.insertAll('keyed_results', COLUMNS, [...moved.values()]);
}

function toKeyedResult({ scope, key, result, created_at }: EarlierKey, all: readonly EarlierKey[]) {
  const row = (name: string, place: string, until: string | null) => [
    { request: keyedRequest(name, key, null).id, body_sha256: null, result: place, until },
  ];
  if (scope.startsWith('entry/'))
    return row('audit/entries', JSON.stringify([scope.slice('entry/'.length), Number(result)]), null);
  if (scope === 'entries') return row('audit/entries/batch', JSON.stringify(placesOf(key, all)), null);
  if (scope === 'evidence')
    return row('audit/evidence', result, new Date(Date.parse(created_at) + KEY_LIFETIME_MS).toISOString());
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

async function hasTable(database: Database, name: string): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${name}`.execute(
    database.tables(),
  );
  return rows.length > 0;
}

async function run(transaction: Transaction, statement: string): Promise<void> {
  await sql.raw(statement).execute(transaction.tables());
}
