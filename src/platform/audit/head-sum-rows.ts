import { randomBytes, randomInt } from 'node:crypto';
import type { Reader, Transaction } from '../database/database.ts';
import type { RowSeals, SealedHeadSum } from './sealed-rows.ts';
import type { AuditTables } from './tables.ts';

/**
 * Number of lanes of the sum over all heads, which adds keyed digests of their seals as numbers modulo 2^256. No head
 * can be put back to an older state, or removed, without a change of this sum, and nobody without the key can seal
 * another sum. Nor can they look for several heads whose changes cancel out: a lane's sum is stored with a secret mask
 * for a new nonce, so that they know neither the numbers nor their differences.
 *
 * Transactions do not wait for each other: each adds its change to a lane that no other transaction holds. A lane also
 * states how often each of the others had changed, so that no lane can be put back alone either.
 */
const LANES = 8;

const MODULUS = 1n << 256n;

/** Seal of a head before and after a transaction; null for a stream that did not exist. */
export interface MovedSeal {
  before: string | null;
  after: string;
}

/**
 * Adds the changes of heads to the sum. Call this after the heads are locked and before `addToTotals`. Leaves a lane
 * alone that was changed outside the platform.
 *
 * @returns the lane, which this transaction holds until it ends.
 */
export async function addToHeadSum(
  transaction: Transaction,
  seals: RowSeals,
  moved: readonly MovedSeal[],
): Promise<number> {
  if (moved.length === 0) return 0;
  const lanes = await readLanes(transaction);
  if (lanes.length < LANES) await createLanes(transaction, seals);
  const row = await lockLane(transaction);
  if (row === undefined || row.seal !== seals.headSum(row)) return row?.lane ?? 0;
  const change = moved.reduce(
    (sum, { before, after }) => sum + seals.headNumber(after) - (before === null ? 0n : seals.headNumber(before)),
    0n,
  );
  const seen = lanes.map(({ lane, changes }) => [lane, changes] as const).filter(([lane]) => lane !== row.lane);
  const next = laneOf(seals, { lane: row.lane, changes: row.changes + 1, seen }, sumOf(seals, row) + change);
  await transaction.tables<AuditTables>().updateTable('head_sums').set(next).where('lane', '=', row.lane).execute();
  return row.lane;
}

/** Reports whether the heads of all streams fit their sum. @param reader of one snapshot. */
export async function headsFit(reader: Reader, seals: RowSeals): Promise<boolean> {
  const lanes = await readLanes(reader);
  const changes = new Map(lanes.map((row) => [row.lane, row.changes]));
  const areWhole = lanes.every((row) => row.seal === seals.headSum(row) && seenOf(row).every(isStillThere));
  function isStillThere([lane, count]: readonly [number, number]): boolean {
    return (changes.get(lane) ?? 0) >= count;
  }
  const heads = await reader.tables<AuditTables>().selectFrom('streams').select('head_seal').execute();
  const due = lanes.reduce((sum, row) => sum + sumOf(seals, row), 0n);
  return areWhole && toHex(due) === toHex(totalOf(seals, heads));
}

/** Makes the sum fit the present heads. Returns false if it fits already. */
export async function acceptHeads(transaction: Transaction, seals: RowSeals): Promise<boolean> {
  await createLanes(transaction, seals);
  const tables = transaction.tables<AuditTables>();
  // No head changes while all lanes are locked.
  const lanes = tables.selectFrom('head_sums').selectAll().orderBy('lane').modifyEnd(transaction.sql.locked);
  const rows = await lanes.execute();
  if (await headsFit(transaction, seals)) return false;
  const heads = await tables.selectFrom('streams').select('head_seal').execute();
  let left = totalOf(seals, heads);
  for (const { lane, changes } of rows) {
    const next = laneOf(seals, { lane, changes: changes + 1, seen: [] }, left);
    left = 0n;
    await tables.updateTable('head_sums').set(next).where('lane', '=', lane).execute();
  }
  return true;
}

function readLanes(reader: Reader) {
  return reader.tables<AuditTables>().selectFrom('head_sums').selectAll().orderBy('lane').execute();
}

async function createLanes(transaction: Transaction, seals: RowSeals): Promise<void> {
  const rows = Array.from({ length: LANES }, (_, lane) => laneOf(seals, { lane, changes: 0, seen: [] }, 0n));
  const sums = transaction.tables<AuditTables>().insertInto('head_sums').values(rows);
  await sums.onConflict((conflict) => conflict.column('lane').doNothing()).execute();
}

/** Locks a lane until the transaction ends: one that is free, or any if none is. */
async function lockLane(transaction: Transaction) {
  const { locked, lockedByNobody } = transaction.sql;
  const all = transaction.tables<AuditTables>().selectFrom('head_sums').selectAll();
  const free = await all.orderBy('lane').limit(1).modifyEnd(lockedByNobody).executeTakeFirst();
  return free ?? all.where('lane', '=', randomInt(LANES)).modifyEnd(locked).executeTakeFirst();
}

/** Lanes and their numbers of changes. */
type Seen = readonly (readonly [lane: number, changes: number])[];

function seenOf({ seen }: SealedHeadSum): Seen {
  return JSON.parse(seen) as Seen;
}

/** Returns the row of a lane. */
function laneOf(seals: RowSeals, { lane, changes, seen }: { lane: number; changes: number; seen: Seen }, sum: bigint) {
  const nonce = randomBytes(16).toString('hex');
  const row = { lane, changes, nonce, sum: toHex(sum + seals.headMask(lane, nonce)), seen: JSON.stringify(seen) };
  return { ...row, seal: seals.headSum(row) };
}

/** Returns the sum of a lane, or another number if its row was changed. */
function sumOf(seals: RowSeals, { lane, nonce, sum }: SealedHeadSum): bigint {
  return BigInt(`0x${sum}`) - seals.headMask(lane, nonce);
}

function totalOf(seals: RowSeals, heads: readonly { head_seal: string }[]): bigint {
  return heads.reduce((sum, { head_seal }) => sum + seals.headNumber(head_seal), 0n);
}

function toHex(sum: bigint): string {
  return (((sum % MODULUS) + MODULUS) % MODULUS).toString(16).padStart(64, '0');
}
