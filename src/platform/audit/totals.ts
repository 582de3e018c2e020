import { sql } from 'kysely';
import { InTheWay, type Reader, type Transaction } from '../database/database.ts';
import type { Added } from './repository.ts';
import type { RowSeals, SealedTotals } from './sealed-rows.ts';
import type { AuditTables } from './tables.ts';

/** Id of the only row. */
const ONLY = 1;
const NONE: SealedTotals = { streams: 0, verified: 0, failed: 0, reached: 0 };

/** Reads the totals over all streams; null if they were changed outside the platform. */
export async function readTotals(reader: Reader, seals: RowSeals): Promise<SealedTotals | null> {
  const row = await query(reader).executeTakeFirst();
  if (row !== undefined) return row.seal === seals.totals(row) ? row : null;
  return (await countStreams(reader)) === 0 ? NONE : null;
}

/**
 * Adds to the totals over all streams. Leaves totals alone that were changed outside the platform, because a new seal
 * would make them look sound. Call this last in a transaction, so that others wait only briefly for the row.
 */
export async function addToTotals(transaction: Transaction, seals: RowSeals, more: SealedTotals): Promise<void> {
  const row = await query(transaction).modifyEnd(transaction.sql.locked).executeTakeFirst();
  if (row === undefined) {
    if ((await countStreams(transaction)) === more.streams) await begin(transaction, seals, more);
    return;
  }
  if (row.seal !== seals.totals(row)) return;
  const totals = {
    streams: row.streams + more.streams,
    verified: row.verified + more.verified,
    failed: row.failed + more.failed,
    reached: row.reached + more.reached,
  };
  const sealed = { ...totals, seal: seals.totals(totals) };
  await transaction.tables<AuditTables>().updateTable('totals').set(sealed).where('id', '=', ONLY).execute();
}

/** Creates the totals. @throws InTheWay if another process created them in the meantime. */
async function begin(transaction: Transaction, seals: RowSeals, totals: SealedTotals): Promise<void> {
  const sealed = { id: ONLY, ...totals, seal: seals.totals(totals) };
  const rows = transaction.tables<AuditTables>().insertInto('totals').values(sealed);
  const begun = rows.onConflict((conflict) => conflict.column('id').doNothing()).returning('id');
  const row = await begun.executeTakeFirst();
  if (row === undefined) throw new InTheWay('the totals were begun meanwhile');
}

function query(reader: Reader) {
  return reader.tables<AuditTables>().selectFrom('totals').selectAll().where('id', '=', ONLY);
}

export async function countStreams(reader: Reader): Promise<number> {
  const streams = reader.tables<AuditTables>().selectFrom('streams');
  return (await streams.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count;
}

/** Replaces the totals. */
export async function setTotals(transaction: Transaction, seals: RowSeals, totals: SealedTotals): Promise<void> {
  await transaction.tables<AuditTables>().deleteFrom('totals').execute();
  await begin(transaction, seals, totals);
}

/** Returns the hour of a time as a prefix: `2026-10-01T09`. */
export function hourOf(timestamp: string): string {
  return timestamp.slice(0, 13);
}

/** Counts new entries by stream and hour. This transaction must hold the heads of the streams. */
export async function countByHour(transaction: Transaction, added: readonly Added[]): Promise<void> {
  if (added.length === 0) return;
  const counts = new Map<string, { hour: string; stream_no: number; entries: number }>();
  for (const { row, head } of added) {
    const hour = hourOf(row.timestamp);
    const stream_no = head.streamNo ?? 0;
    const counted = counts.get(`${stream_no} ${hour}`) ?? { hour, stream_no, entries: 0 };
    counts.set(`${stream_no} ${hour}`, { ...counted, entries: counted.entries + 1 });
  }
  await transaction
    .tables<AuditTables>()
    .insertInto('entry_hours')
    .values([...counts.values()])
    .onConflict((conflict) =>
      conflict.columns(['hour', 'stream_no']).doUpdateSet(({ ref }) => ({
        entries: sql<number>`${ref('entry_hours.entries')} + ${ref('excluded.entries')}`,
      })),
    )
    .execute();
}
