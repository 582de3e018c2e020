import { type Selectable, sql } from 'kysely';
import type { Database, Reader, Transaction } from '../database/database.ts';
import { kindsOf } from '../database/table.ts';
import { rowChanger, rowFinder } from '../rows.ts';
import type { Channel } from './enums.ts';
import { TRAP_TABLES, type TrapTables } from './tables.ts';

/** Number of first occurrences that are kept, and of last ones; the count is exact. */
export const KEPT_OCCURRENCES = 100;

export type Trap = Selectable<TrapTables['traps']>;
export type Detection = Selectable<TrapTables['detections']>;
export type Occurrence = Omit<TrapTables['detection_occurrences'], 'detection_no'>;

/** Takes the next change number. This locks all changes of detections, in all processes, until the transaction ends. */
export async function nextChange(transaction: Transaction): Promise<number> {
  const changes = transaction.tables<TrapTables>().updateTable('detection_changes');
  const { change_no } = await changes
    .set({ change_no: sql<number>`change_no + 1` })
    .returning('change_no')
    .executeTakeFirstOrThrow();
  return change_no;
}

/** Returns the number of the last change of any detection. */
export async function lastChange(reader: Reader): Promise<number> {
  const changes = reader.tables<TrapTables>().selectFrom('detection_changes').select('change_no');
  return (await changes.executeTakeFirstOrThrow()).change_no;
}

export const trapRow = rowFinder(TRAP_TABLES, 'traps', 'trap_no');

/** Records that a trap was used. An ended trap stays ended. */
export async function triggerTrap(
  transaction: Transaction,
  { trap_no }: Trap,
  { detected_at, last_seen }: Detection,
  isNew: boolean,
): Promise<void> {
  const traps = transaction.tables<TrapTables>().updateTable('traps').where('trap_no', '=', trap_no);
  await traps
    .set({
      detection_count: sql<number>`detection_count + ${isNew ? 1 : 0}`,
      last_detected_at: sql<string>`CASE WHEN last_detected_at > ${last_seen} THEN last_detected_at ELSE ${last_seen} END`,
      triggered_at: sql<string>`COALESCE(triggered_at, ${detected_at})`,
    })
    .execute();
}

/** Records an event of an external source. @returns false if the event was recorded before. */
export async function isNewEvent(transaction: Transaction, channel: Channel, sourceEventId: string): Promise<boolean> {
  const events = transaction.tables<TrapTables>().insertInto('detection_events');
  const { numInsertedOrUpdatedRows } = await events
    .values({ channel, source_event_id: sourceEventId })
    .onConflict((conflict) => conflict.columns(['channel', 'source_event_id']).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Returns the detections of a trap and group key that were last used at or after a time, newest first. */
export async function detectionsNear(
  reader: Reader,
  { trapNo, groupKey, since }: { trapNo: number; groupKey: string; since: string },
): Promise<Detection[]> {
  const detections = reader.tables<TrapTables>().selectFrom('detections').selectAll();
  const near = detections
    .where('trap_no', '=', trapNo)
    .where('group_key', '=', groupKey)
    .where('last_seen', '>=', since);
  return await near.orderBy('last_seen', 'desc').execute();
}

/** @returns the number of the detection. */
export async function insertDetection(transaction: Transaction, detection: Detection): Promise<number> {
  const { detection_no: _, ...row } = detection;
  const detections = transaction.tables<TrapTables>().insertInto('detections').values(row);
  return (await detections.returning('detection_no').executeTakeFirstOrThrow()).detection_no;
}

export const changeDetection = rowChanger(TRAP_TABLES, 'detections', 'detection_no');

/** Adds occurrences, keeping only the first and the last ones of the detection. */
export async function insertOccurrences(
  transaction: Transaction,
  { detectionNo, total, occurrences }: { detectionNo: number; total: number; occurrences: readonly Occurrence[] },
): Promise<void> {
  const lastDropped = total - KEPT_OCCURRENCES;
  const kept = occurrences.filter(({ number }) => number <= KEPT_OCCURRENCES || number > lastDropped);
  const rows = kept.map((occurrence) => ({ ...occurrence, detection_no: detectionNo }));
  await transaction.insertAll('detection_occurrences', kindsOf(TRAP_TABLES.detection_occurrences), rows);
  if (lastDropped <= KEPT_OCCURRENCES) return;
  const all = transaction.tables<TrapTables>().deleteFrom('detection_occurrences');
  const dropped = all.where('detection_no', '=', detectionNo).where('number', '>', KEPT_OCCURRENCES);
  await dropped.where('number', '<=', lastDropped).execute();
}

/** Replaces the facts of an occurrence. */
export async function replaceOccurrence(
  transaction: Transaction,
  detectionNo: number,
  { number, ...known }: Occurrence,
): Promise<void> {
  const occurrences = transaction.tables<TrapTables>().updateTable('detection_occurrences').set(known);
  await occurrences.where('detection_no', '=', detectionNo).where('number', '=', number).execute();
}

export type NewTrapRow = Pick<
  Trap,
  | 'credential_id'
  | 'credential_type'
  | 'plant_location'
  | 'label'
  | 'origin'
  | 'decoy'
  | 'secret'
  | 'created_at'
  | 'expires_at'
  | 'rotated_from'
>;

export async function insertTrap(transaction: Transaction, trap: NewTrapRow): Promise<Trap> {
  const none = { planted_at: null, confirmed_at: null, triggered_at: null, rotated_at: null, revoked_at: null };
  const row = { ...trap, ...none, detection_count: 0, last_detected_at: null };
  const traps = transaction.tables<TrapTables>().insertInto('traps').values(row);
  return await traps.returningAll().executeTakeFirstOrThrow();
}

/** Returns a trap, locked until the transaction ends. @throws DomainError `not_found`. */
export const findTrap = rowFinder(TRAP_TABLES, 'traps', 'credential_id', {
  missing: 'no trap has this ID',
  isLocked: true,
});

export const changeTrap = rowChanger(TRAP_TABLES, 'traps', 'trap_no');

/** Returns the last proofs of channels, by trap. */
export async function channelProofs(
  reader: Reader,
  trapNos: readonly number[],
): Promise<Map<number, { channel: Channel; proved_at: string }[]>> {
  const proofs = new Map<number, { channel: Channel; proved_at: string }[]>();
  if (trapNos.length === 0) return proofs;
  const rows = await reader
    .tables<TrapTables>()
    .selectFrom('channel_proofs')
    .selectAll()
    .where('trap_no', 'in', [...trapNos])
    .execute();
  for (const { trap_no, channel, proved_at } of rows)
    proofs.set(trap_no, [...(proofs.get(trap_no) ?? []), { channel, proved_at }]);
  return proofs;
}

/** Records that a channel of a trap works. */
export async function noteProof(transaction: Transaction, proof: TrapTables['channel_proofs']): Promise<void> {
  await transaction
    .tables<TrapTables>()
    .insertInto('channel_proofs')
    .values(proof)
    .onConflict((conflict) => conflict.columns(['trap_no', 'channel']).doUpdateSet({ proved_at: proof.proved_at }))
    .execute();
}

/** Records that an external channel has reported. */
export async function noteReport(database: Database, channel: Channel, now: Date): Promise<void> {
  const reported_at = now.toISOString();
  await database.write((transaction) =>
    transaction
      .tables<TrapTables>()
      .insertInto('channel_reports')
      .values({ channel, reported_at })
      .onConflict((conflict) => conflict.column('channel').doUpdateSet({ reported_at }))
      .execute(),
  );
}

/** Returns the times of the last reports of external channels. */
export async function lastReports(reader: Reader): Promise<Map<Channel, string>> {
  const rows = await reader.tables<TrapTables>().selectFrom('channel_reports').selectAll().execute();
  return new Map(rows.map(({ channel, reported_at }) => [channel, reported_at]));
}
