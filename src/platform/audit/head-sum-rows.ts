import { randomInt } from 'node:crypto';
import type { Reader, Transaction } from '../database/database.ts';
import type { RowSeals, SealedHeadSum } from './sealed-rows.ts';
import type { AuditTables } from './tables.ts';

/**
 * Number of lanes of the sum over all heads, which adds the seals of all heads as numbers modulo 2^256. No head can be
 * put back to an older state, or removed, without a change of this sum, and nobody without the key can seal another sum.
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
  const change = moved.reduce((sum, { before, after }) => sum + toNumber(after) - toNumber(before), 0n);
  const changes = row.changes + 1;
  const seen = lanes.map(({ lane, changes }) => [lane, changes] as const).filter(([lane]) => lane !== row.lane);
  const sum = { lane: row.lane, changes, sum: toHex(toNumber(row.sum) + change), seen: JSON.stringify(seen) };
  const sums = transaction.tables<AuditTables>().updateTable('head_sums');
  await sums
    .set({ ...sum, seal: seals.headSum(sum) })
    .where('lane', '=', row.lane)
    .execute();
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
  const due = lanes.reduce((sum, row) => sum + toNumber(row.sum), 0n);
  const actual = heads.reduce((sum, { head_seal }) => sum + toNumber(head_seal), 0n);
  return areWhole && toHex(due) === toHex(actual);
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
  let left = heads.reduce((sum, { head_seal }) => sum + toNumber(head_seal), 0n);
  for (const { lane, changes } of rows) {
    const sum = { lane, changes: changes + 1, sum: toHex(left), seen: '[]' };
    left = 0n;
    const change = tables.updateTable('head_sums').set({ ...sum, seal: seals.headSum(sum) });
    await change.where('lane', '=', lane).execute();
  }
  return true;
}

function readLanes(reader: Reader) {
  return reader.tables<AuditTables>().selectFrom('head_sums').selectAll().orderBy('lane').execute();
}

async function createLanes(transaction: Transaction, seals: RowSeals): Promise<void> {
  const rows = Array.from({ length: LANES }, (_, lane) => {
    const none = { lane, changes: 0, sum: toHex(0n), seen: '[]' };
    return { ...none, seal: seals.headSum(none) };
  });
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

function seenOf({ seen }: SealedHeadSum): [lane: number, changes: number][] {
  return JSON.parse(seen) as [number, number][];
}

/** Returns 0 for a text that is no number, which a seal that was changed may be. */
function toNumber(hex: string | null): bigint {
  return hex !== null && /^[0-9a-f]{64}$/.test(hex) ? BigInt(`0x${hex}`) : 0n;
}

function toHex(sum: bigint): string {
  return (((sum % MODULUS) + MODULUS) % MODULUS).toString(16).padStart(64, '0');
}
