import type { Selectable } from 'kysely';
import type { Reader, Transaction } from '../database/database.ts';
import { announceNumbers } from '../database/numbering.ts';
import { kindsOf } from '../database/table.ts';
import type { StreamHead } from './head-rows.ts';
import { AUDIT_TABLES, type AuditTables } from './tables.ts';

/** Entry with the id of its stream instead of the stream's number. */
export type EntryRow = Omit<Selectable<AuditTables['entries']>, 'recorded' | 'stream_no'> & { stream_id: string };

export interface Added {
  row: EntryRow;
  head: StreamHead;
}

/** Columns of an entry as served, except for the id of its stream. */
export const ENTRY_COLUMNS = [
  'entry_id',
  'sequence',
  'timestamp',
  'occurred_at',
  'actor',
  'action',
  'resource_type',
  'resource_id',
  'recorded_by',
  'metadata',
  'prev_hash',
  'seal_key_id',
  'hash',
  'seal',
] as const satisfies readonly (keyof EntryRow)[];

const STORED = kindsOf(AUDIT_TABLES.entries, ['stream_no', ...ENTRY_COLUMNS]);

export async function addEntries(transaction: Transaction, added: readonly Added[]): Promise<void> {
  const rows = added.map(({ row: { stream_id: _, ...row }, head }) => ({ ...row, stream_no: head.streamNo }));
  await announceNumbers(transaction, 'entries', 'recorded');
  await transaction.insertAll('entries', STORED, rows);
}

/** Returns the entry at a place of a stream, if it exists. */
export function entryAt(reader: Reader, streamId: string, sequence: number): Promise<EntryRow | undefined> {
  return entriesOf(reader, streamId).where('sequence', '=', sequence).executeTakeFirst();
}

/** Returns the last entries of a stream, newest first. */
export function lastEntries(
  reader: Reader,
  streamId: string,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<EntryRow[]> {
  const entries = entriesOf(reader, streamId).orderBy('sequence', 'desc').limit(limit);
  return (before === undefined ? entries : entries.where('sequence', '<', before)).execute();
}

function entriesOf(reader: Reader, streamId: string) {
  return reader
    .tables<AuditTables>()
    .selectFrom('entries')
    .innerJoin('streams', 'streams.stream_no', 'entries.stream_no')
    .select([...ENTRY_COLUMNS, 'stream_id'])
    .where('stream_id', '=', streamId);
}
