import { sql } from 'kysely';
import { InTheWay, type Reader, type Transaction } from '../database/database.ts';
import type { Added } from './repository.ts';
import type { RowSeals, SealedTotals } from './sealed-rows.ts';
import type { AuditTables } from './tables.ts';

/** The one row of the table. */
const ONLY = 1;
const NONE: SealedTotals = { streams: 0, verified: 0, failed: 0, reached: 0 };

/** Reads what the platform says of all streams; null where that was changed outside of it. */
export async function readTotals(reader: Reader, seals: RowSeals): Promise<SealedTotals | null> {
  const row = await query(reader).executeTakeFirst();
  if (row !== undefined) return row.seal === seals.totals(row) ? row : null;
  return (await countStreams(reader)) === 0 ? NONE : null;
}

/**
 * Adds to what is said of all streams. Of what was changed outside nothing is made: its seal would say that it is sound.
 * Last in a transaction, so that others wait for it only until that ends.
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

/** @throws InTheWay where another process began them meanwhile. */
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

/** The hour that a time is in, as far as both have it: `2026-10-01T09`. */
export function hourOf(timestamp: string): string {
  return timestamp.slice(0, 13);
}

/** Counts new entries by stream and hour. Their streams are this transaction's. */
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
