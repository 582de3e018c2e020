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

/**
 * Counts new entries by stream and hour.
 * @param lane of the sum over all heads, which this transaction holds: transactions do not wait for each other.
 */
export async function countByHour(transaction: Transaction, added: readonly Added[], lane: number): Promise<void> {
  if (added.length === 0) return;
  const counts = new Map<string, { hour: string; stream_no: number; entries: number }>();
  const totals = new Map<string, { hour: string; lane: number; entries: number }>();
  for (const { row, head } of added) {
    const hour = hourOf(row.timestamp);
    const stream_no = head.streamNo ?? 0;
    count(counts, `${stream_no} ${hour}`, { hour, stream_no, entries: 1 });
    count(totals, hour, { hour, lane, entries: 1 });
  }
  const tables = transaction.tables<AuditTables>();
  const byStream = tables.insertInto('entry_hours').values([...counts.values()]);
  const more = (table: string) => sql<number>`${sql.ref(`${table}.entries`)} + excluded.entries`;
  await byStream
    .onConflict((conflict) => conflict.columns(['stream_no', 'hour']).doUpdateSet({ entries: more('entry_hours') }))
    .execute();
  const byHour = tables.insertInto('hour_totals').values([...totals.values()]);
  await byHour
    .onConflict((conflict) => conflict.columns(['hour', 'lane']).doUpdateSet({ entries: more('hour_totals') }))
    .execute();
}

function count<T extends { entries: number }>(counts: Map<string, T>, key: string, one: T): void {
  const counted = counts.get(key);
  counts.set(key, counted === undefined ? one : { ...counted, entries: counted.entries + one.entries });
}

/** Returns the hours whose totals differ from the numbers of the streams. */
export async function changedHours(reader: Reader): Promise<{ hour: string; streams: number; total: number }[]> {
  const { rows } = await sql<{ hour: string; streams: number; total: number }>`
    SELECT hour, CAST(sum(streams) AS bigint) AS streams, CAST(sum(total) AS bigint) AS total
    FROM (SELECT hour, entries AS streams, 0 AS total FROM entry_hours
      UNION ALL SELECT hour, 0 AS streams, entries AS total FROM hour_totals) AS counted
    GROUP BY hour HAVING sum(streams) <> sum(total) ORDER BY hour`.execute(reader.tables());
  return rows;
}

/** Makes the totals of hours fit the numbers of the streams. Returns false if they fit already. */
export async function acceptHours(transaction: Transaction): Promise<boolean> {
  const tables = transaction.tables<AuditTables>();
  const changed = await changedHours(transaction);
  for (const { hour, streams } of changed) {
    await tables.deleteFrom('hour_totals').where('hour', '=', hour).execute();
    await tables.insertInto('hour_totals').values({ hour, lane: 0, entries: streams }).execute();
  }
  return changed.length > 0;
}
