import type { Transaction } from '../database/database.ts';
import { acceptHeads } from './head-sum-rows.ts';
import type { RowSeals } from './sealed-rows.ts';
import { countRecords } from './stats.ts';
import { acceptHours, readTotals, setTotals } from './totals.ts';

/**
 * Makes the sum of all heads, and the totals, fit the present streams, their hours and their latest checks. Returns false
 * if they fit already.
 */
export async function acceptStreams(transaction: Transaction, seals: RowSeals, now: Date): Promise<boolean> {
  const accepted = [await acceptHeads(transaction, seals), await acceptHours(transaction)];
  const { streams, verified, failed, reached } = await countRecords(transaction, now);
  const counted = { streams, verified, failed, reached };
  const totals = await readTotals(transaction, seals);
  const fit = totals !== null && seals.totals(totals) === seals.totals(counted);
  if (!fit) await setTotals(transaction, seals, counted);
  return accepted.some((each) => each) || !fit;
}
