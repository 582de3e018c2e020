import { canonicalize } from '../../core/json/canonical.ts';
import type { Database, Reader, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { AppendDeps } from './append.ts';
import { countByHour } from './hours.ts';
import { addEntries, lockHeads, moveHeads, refuseDamaged } from './repository.ts';
import { ROTATED, sealKeyId } from './seal-keys.ts';
import { sealOnto } from './sealing.ts';
import type { AuditTables } from './tables.ts';

/** A key that sealed a stream, and the one that seals it from now on. */
export interface SealKeyRotation {
  from: string;
  to: string;
  /** The number of the last entry under the old key, which says so. */
  sequence: number;
}

/**
 * Begins the next epoch of a stream: its last entry under the old key names the new one, under which all later entries are
 * sealed, whatever process appends them. Whoever was given the old key can seal nothing that comes after.
 * @throws DomainError `not_found`, `stream_damaged`, `clock_behind`.
 */
export function rotateSealKey(database: Database, deps: AppendDeps, streamId: string): Promise<SealKeyRotation> {
  return database.write((transaction) => rotate(transaction, deps, streamId));
}

async function rotate(
  transaction: Transaction,
  { keys, seals, clock }: AppendDeps,
  streamId: string,
): Promise<SealKeyRotation> {
  const now = clock();
  const head = (await lockHeads(transaction, seals, [streamId], now)).get(streamId);
  if (head === undefined || head.streamNo === null) throw new DomainError('not_found', 'there is no stream of this id');
  refuseDamaged(head);
  const epoch = head.sealEpoch;
  const [from, to] = [sealKeyId(streamId, epoch), sealKeyId(streamId, epoch + 1)];
  const metadata = { epoch: epoch + 1, from, to };
  const said = { stream_id: streamId, actor: 'evidence-platform', ...ROTATED, resource_id: to, metadata };
  const row = sealOnto(head, { ...said, metadataText: canonicalize(metadata) }, keys, now);
  head.sealEpoch = epoch + 1;
  await addEntries(transaction, [{ row, head }]);
  await countByHour(transaction, [{ row, head }]);
  await moveHeads(transaction, seals, [head]);
  return { from, to, sequence: row.sequence };
}

/** The streams in their order, with the epoch that each of them is in. */
export function streamEpochs(reader: Reader): Promise<{ stream_id: string; seal_epoch: number }[]> {
  const streams = reader.tables<AuditTables>().selectFrom('streams').select(['stream_id', 'seal_epoch']);
  return streams.orderBy('stream_id').execute();
}
