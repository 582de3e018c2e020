import type { Selectable } from 'kysely';
import { InTheWay, type Transaction } from '../database/database.ts';
import { kindsOf } from '../database/table.ts';
import { DomainError } from '../errors.ts';
import { FIRST_EPOCH } from './enums.ts';
import { addToHeadSum } from './head-sum-rows.ts';
import type { RowSeals, SealedHead } from './sealed-rows.ts';
import { likenessOf, similarStreams } from './similar-rows.ts';
import { AUDIT_TABLES, type AuditTables } from './tables.ts';

/** Head of a stream, to which the next entry is added; locked by one transaction at a time. */
export interface StreamHead extends Omit<SealedHead, 'hash' | 'lastEntryAt'> {
  /** Result of `likenessOf`. */
  likeness: string;
  /** Existing stream whose id looks like that of this one, which does not exist; null for none. */
  resembles: string | null;
  /** Number of the stream; null if the stream does not exist yet. */
  streamNo: number | null;
  /** Hash of the last entry; null if the stream has no entries. */
  hash: string | null;
  lastEntryAt: string | null;
  /** True if the head is as the platform wrote it. */
  isSound: boolean;
  /** Stored seal; null if the stream does not exist yet. */
  seal: string | null;
}

const NO_ENTRIES = {
  sequence: 0,
  hash: null,
  count: 0,
  lastEntryAt: null,
  checkpoints: 0,
  anchored: 0,
  verifications: 0,
  packages: 0,
  sealEpoch: FIRST_EPOCH,
};

/**
 * Locks the heads of streams until the transaction ends. Locks them in one order, so that two transactions cannot
 * deadlock.
 */
export async function lockHeads(
  transaction: Transaction,
  seals: RowSeals,
  streamIds: readonly string[],
  now: Date,
): Promise<Map<string, StreamHead>> {
  const { isAmong, locked: lock } = transaction.sql;
  const streams = transaction.tables<AuditTables>().selectFrom('streams').selectAll();
  const known = streams.where(isAmong('stream_id', streamIds)).orderBy('stream_id').modifyEnd(lock);
  const rows = await known.execute();
  const locked = rows.map((row): [string, StreamHead] => {
    const head = sealedHeadOf(row);
    const { stream_no: streamNo, likeness } = row;
    return [
      row.stream_id,
      {
        ...head,
        streamNo,
        likeness,
        resembles: null,
        seal: row.head_seal,
        isSound: row.head_seal === seals.head(head),
      },
    ];
  });
  const heads = new Map(locked);
  const absent = streamIds.filter((streamId) => !heads.has(streamId));
  const likenesses = new Map(absent.map((streamId) => [streamId, likenessOf(streamId)]));
  const similar = await similarStreams(transaction, [...likenesses.values()]);
  for (const [streamId, likeness] of likenesses) {
    const resembles = similar.get(likeness) ?? null;
    const begun = { streamId, streamNo: null, createdAt: now.toISOString(), ...NO_ENTRIES, seal: null, isSound: true };
    heads.set(streamId, { ...begun, likeness, resembles });
  }
  return heads;
}

/** Locks the head of an existing stream. @throws DomainError `not_found`, `stream_damaged`. */
export async function lockHead(
  transaction: Transaction,
  seals: RowSeals,
  streamId: string,
  now: Date,
): Promise<StreamHead> {
  const head = (await lockHeads(transaction, seals, [streamId], now)).get(streamId);
  if (head === undefined || head.streamNo === null) throw new DomainError('not_found', 'no stream has this ID');
  refuseDamaged(head);
  return head;
}

/** @throws DomainError `stream_damaged` if the head is not as the platform wrote it. */
export function refuseDamaged({ streamId, isSound }: StreamHead): void {
  if (isSound) return;
  const path = `/streams/${encodeURIComponent(streamId)}/verify`;
  throw new DomainError(
    'stream_damaged',
    `the row of this stream was changed outside the service; nothing was added; POST ${path} lists the findings`,
  );
}

/** Returns the statements of a stream's row about its head. */
export function sealedHeadOf(
  row: Omit<Selectable<AuditTables['streams']>, 'verification_no' | 'likeness'>,
): SealedHead {
  return {
    streamId: row.stream_id,
    createdAt: row.created_at,
    sequence: row.head_sequence,
    hash: row.head_hash,
    count: row.entry_count,
    lastEntryAt: row.last_entry_at,
    checkpoints: row.checkpoint_count,
    anchored: row.anchored_count,
    verifications: row.verification_count,
    packages: row.package_count,
    sealEpoch: row.seal_epoch,
  };
}

/**
 * Creates streams, and gives their heads the numbers. @throws InTheWay if another transaction created one of them in
 * the meantime.
 */
export async function createStreams(
  transaction: Transaction,
  seals: RowSeals,
  heads: readonly StreamHead[],
): Promise<void> {
  if (heads.length === 0) return;
  const rows = heads.map((head) => ({
    stream_id: head.streamId,
    likeness: head.likeness,
    created_at: head.createdAt,
    ...columnsOf(head, seals),
  }));
  const created = await transaction.insertAbsent('streams', CREATED, rows);
  if (created < heads.length) throw new InTheWay('a stream was begun meanwhile');
  const ids = heads.map(({ streamId }) => streamId);
  const streams = transaction.tables<AuditTables>().selectFrom('streams').select(['stream_id', 'stream_no']);
  const numbered = await streams.where(transaction.sql.isAmong('stream_id', ids)).execute();
  const numbers = new Map(numbered.map(({ stream_id, stream_no }) => [stream_id, stream_no]));
  for (const head of heads) head.streamNo = numbers.get(head.streamId) ?? null;
}

/**
 * Writes changed heads of existing streams, and adds the changes of all heads to their sum. Call this last in a
 * transaction, so that others wait only briefly for a lane of the sum.
 */
export async function moveHeads(
  transaction: Transaction,
  seals: RowSeals,
  heads: readonly StreamHead[],
): Promise<number> {
  const moved = heads.map((head) => ({
    before: head.seal,
    row: { stream_no: head.streamNo, ...columnsOf(head, seals) },
  }));
  const existing = moved.filter(({ before }) => before !== null);
  await transaction.updateAll(
    'streams',
    MOVED,
    existing.map(({ row }) => row),
  );
  const changes = moved.map(({ before, row }) => ({ before, after: row.head_seal }));
  return addToHeadSum(transaction, seals, changes);
}

/** Columns that change when a head moves. */
const HEAD_COLUMNS = [
  'head_sequence',
  'entry_count',
  'head_hash',
  'last_entry_at',
  'checkpoint_count',
  'anchored_count',
  'verification_count',
  'package_count',
  'seal_epoch',
  'head_seal',
] as const;
const MOVED = kindsOf(AUDIT_TABLES.streams, ['stream_no', ...HEAD_COLUMNS]);
const CREATED = kindsOf(AUDIT_TABLES.streams, ['stream_id', 'likeness', 'created_at', ...HEAD_COLUMNS]);

/** Returns the values of these columns. */
function columnsOf(head: StreamHead, seals: RowSeals) {
  const { sequence, count, hash, lastEntryAt, checkpoints, anchored, verifications, packages, sealEpoch } = head;
  if (hash === null || lastEntryAt === null) throw new Error('a stream without entries has no head');
  return {
    head_sequence: sequence,
    entry_count: count,
    head_hash: hash,
    last_entry_at: lastEntryAt,
    checkpoint_count: checkpoints,
    anchored_count: anchored,
    verification_count: verifications,
    package_count: packages,
    seal_epoch: sealEpoch,
    head_seal: seals.head({ ...head, hash, lastEntryAt }),
  };
}

/**
 * Counts a check or a package of a stream, and returns its number. Locks the head until the transaction ends. Returns 0
 * if the head was changed outside the service: such a head gets no new seal and counts nothing.
 */
export async function nextNumber(
  transaction: Transaction,
  seals: RowSeals,
  streamId: string,
  counted: 'verifications' | 'packages',
): Promise<number> {
  const head = (await lockHeads(transaction, seals, [streamId], new Date())).get(streamId);
  if (head === undefined || head.streamNo === null || !head.isSound) return 0;
  head[counted]++;
  await moveHeads(transaction, seals, [head]);
  return head[counted];
}
