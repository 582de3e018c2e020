import type { Selectable } from 'kysely';
import { type Columns, InTheWay, type Reader, type Transaction } from '../database/database.ts';
import type { AuditTables } from './schema.ts';

/** An entry, with the id of its stream in the place of the number. */
export type EntryRow = Omit<Selectable<AuditTables['entries']>, 'recorded' | 'stream_no'> & { stream_id: string };

/** Where the next entry of a stream goes; held by one transaction at a time. */
export interface StreamHead {
  streamId: string;
  /** Null for a stream that is not there yet. */
  streamNo: number | null;
  sequence: number;
  /** How many entries the stream says it has. */
  count: number;
  hash: string | null;
  lastEntryAt: string | null;
}

export interface Added {
  row: EntryRow;
  head: StreamHead;
}

/** The columns of an entry as they are served, but for the id of its stream. */
export const ENTRY_COLUMNS = [
  'entry_id',
  'sequence',
  'timestamp',
  'occurred_at',
  'actor',
  'action',
  'resource_type',
  'resource_id',
  'metadata',
  'prev_hash',
  'seal_key_id',
  'hash',
  'seal',
] as const satisfies readonly (keyof EntryRow)[];

const STORED: Columns = {
  stream_no: 'integer',
  ...Object.fromEntries(ENTRY_COLUMNS.map((name) => [name, name === 'sequence' ? 'integer' : 'text'])),
};

/** The heads of streams, which nobody else moves until the transaction ends. In one order, so that no two wait for each other. */
export async function lockHeads(
  transaction: Transaction,
  streamIds: readonly string[],
): Promise<Map<string, StreamHead>> {
  const { words } = transaction;
  const rows = await transaction
    .tables<AuditTables>()
    .selectFrom('streams')
    .select(['stream_id', 'stream_no', 'entry_count', 'head_sequence', 'head_hash', 'last_entry_at'])
    .where(words.isAmong('stream_id', streamIds))
    .orderBy('stream_id')
    .modifyEnd(words.locked)
    .execute();
  const heads = streamIds.map((streamId): [string, StreamHead] => [
    streamId,
    { streamId, streamNo: null, sequence: 0, count: 0, hash: null, lastEntryAt: null },
  ]);
  const locked = rows.map((row): [string, StreamHead] => [
    row.stream_id,
    {
      streamId: row.stream_id,
      streamNo: row.stream_no,
      sequence: row.head_sequence,
      count: row.entry_count,
      hash: row.head_hash,
      lastEntryAt: row.last_entry_at,
    },
  ]);
  return new Map([...heads, ...locked]);
}

/** Begins streams, and gives their heads the number. @throws InTheWay where somebody else began one of them meanwhile. */
export async function createStreams(transaction: Transaction, heads: readonly StreamHead[], now: Date): Promise<void> {
  for (const head of heads) {
    const row = await transaction
      .tables<AuditTables>()
      .insertInto('streams')
      .values({
        stream_id: head.streamId,
        entry_count: 0,
        head_sequence: 0,
        head_hash: null,
        created_at: now.toISOString(),
        last_entry_at: null,
        verification_no: null,
      })
      .onConflict((conflict) => conflict.column('stream_id').doNothing())
      .returning('stream_no')
      .executeTakeFirst();
    if (row === undefined) throw new InTheWay('the stream was begun meanwhile');
    head.streamNo = row.stream_no;
  }
}

export function addEntries(transaction: Transaction, added: readonly Added[]): Promise<void> {
  const rows = added.map(({ row: { stream_id: _, ...row }, head }) => ({ ...row, stream_no: head.streamNo }));
  return transaction.insertAll('entries', STORED, rows);
}

export function moveHeads(transaction: Transaction, heads: readonly StreamHead[]): Promise<void> {
  const columns: Columns = {
    stream_no: 'integer',
    head_sequence: 'integer',
    entry_count: 'integer',
    head_hash: 'text',
    last_entry_at: 'text',
  };
  const rows = heads.map(({ streamNo, sequence, count, hash, lastEntryAt }) => ({
    stream_no: streamNo,
    head_sequence: sequence,
    entry_count: count,
    head_hash: hash,
    last_entry_at: lastEntryAt,
  }));
  return transaction.updateAll('streams', columns, rows);
}

/** An entry that is known to be there. */
export function entryAt(reader: Reader, streamId: string, sequence: number): Promise<EntryRow> {
  return reader
    .tables<AuditTables>()
    .selectFrom('entries')
    .innerJoin('streams', 'streams.stream_no', 'entries.stream_no')
    .select([...ENTRY_COLUMNS, 'stream_id'])
    .where('stream_id', '=', streamId)
    .where('sequence', '=', sequence)
    .executeTakeFirstOrThrow();
}
