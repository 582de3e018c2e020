import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EvidenceError, isSystemError } from '../../core/errors.ts';
import { canonicalize } from '../../core/json/canonical.ts';
import type { Database, Reader, Transaction } from '../database/database.ts';
import type { AppendDeps } from './append.ts';
import { ROTATED } from './enums.ts';
import { lockHead, moveHeads } from './head-rows.ts';
import { addEntries } from './repository.ts';
import { PLATFORM_ITSELF, sealOnto } from './rules.ts';
import { type DerivedSealKeys, sealKeyId } from './seal-keys.ts';
import type { AuditTables } from './tables.ts';
import { countByHour } from './totals.ts';

/** Old and new seal key of a stream. */
export interface SealKeyRotation {
  from: string;
  to: string;
  /** Sequence number of the last entry under the old key, which records the rotation. */
  sequence: number;
}

/**
 * Starts the next epoch of a stream. The last entry under the old key specifies the new key, which seals all later
 * entries, whichever process appends them. The old key cannot seal later entries.
 * @throws DomainError `not_found`, `stream_damaged`.
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
  const head = await lockHead(transaction, seals, streamId, now);
  const epoch = head.sealEpoch;
  const [from, to] = [sealKeyId(streamId, epoch), sealKeyId(streamId, epoch + 1)];
  const metadata = { epoch: epoch + 1, from, to };
  const said = { stream_id: streamId, actor: 'evidence-platform', ...ROTATED, resource_id: to, metadata };
  const entry = { ...said, metadataText: canonicalize(metadata), recordedBy: PLATFORM_ITSELF };
  const { row, before } = sealOnto(head, entry, keys, now);
  head.sealEpoch = epoch + 1;
  const added = [...before, row].map((each) => ({ row: each, head }));
  await addEntries(transaction, added);
  await countByHour(transaction, added, await moveHeads(transaction, seals, [head]));
  return { from, to, sequence: row.sequence };
}

/** Returns all streams in order, with their current epochs. */
export function streamEpochs(reader: Reader): Promise<{ stream_id: string; seal_epoch: number }[]> {
  const streams = reader.tables<AuditTables>().selectFrom('streams').select(['stream_id', 'seal_epoch']);
  return streams.orderBy('stream_id').execute();
}

/**
 * Writes the seal keys of all streams and epochs into a folder, for checks of seals.
 * @returns the file of each key, by the key's id in entries.
 * @throws EvidenceError `config` if a file exists with another key.
 */
export async function writeSealKeys(
  { database, sealKeys }: { database: Reader; sealKeys: DerivedSealKeys },
  folder: string,
): Promise<Map<string, string>> {
  const keys = (await streamEpochs(database)).flatMap(({ stream_id, seal_epoch }) =>
    Array.from({ length: seal_epoch }, (_, before) => sealKeys.reveal(stream_id, before + 1)),
  );
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const files = new Map<string, string>();
  for (const { id, bytes } of keys) {
    const path = join(folder, id);
    await writeKey(path, `hex:${Buffer.from(bytes).toString('hex')}\n`);
    files.set(id, path);
  }
  return files;
}

/** Writes a key once. Writing the same key again changes nothing; a file with another key is never overwritten. */
async function writeKey(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
    if ((await readFile(path, 'utf8')) !== text)
      throw new EvidenceError('config', `${path} exists with a different key and was not changed`, {
        nextStep: 'Choose another --out folder.',
      });
  }
}
