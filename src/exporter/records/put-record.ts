import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toBlocks } from '../../core/chunks.ts';
import { whereDefined } from '../../core/defined.ts';
import { sha256 } from '../../core/digest.ts';
import type { Expected } from '../../verifier/archive/archive.ts';
import type { LongFormat, RecordFormat } from '../../verifier/model/schemas.ts';
import { publicKeyKey, runIdOf, runRecordKey } from '../../verifier/records/keys.ts';
import { readLongRecord } from '../../verifier/records/long-record.ts';
import { recordPieces, toReadableBytes } from '../../verifier/records/record-bytes.ts';
import type { StoredAs } from '../../verifier/records/stored-object.ts';
import { type PublicKey, toPem } from '../../verifier/signature/key.ts';
import type { Archive, PutResult } from '../archive/archive.ts';

const BLOCK_BYTES = 256 * 1024;

/**
 * Stores a record unless it is already stored, and returns it in the form in which other records refer to it.
 * @throws EvidenceError as `toReadableBytes` and `Archive.put` do.
 */
export async function putRecord<T>(
  archive: Archive,
  key: string,
  format: RecordFormat<T>,
  record: T,
): Promise<StoredAs> {
  return putReadable(archive, key, toReadableBytes(format, record, key));
}

/**
 * Stores a record whose members may be too long for memory, unless it is already stored. Its own reader reads it first.
 * @throws EvidenceError as `readLongRecord` and `Archive.put` do; in that case nothing is stored.
 */
export async function putLongRecord<T extends object>(
  archive: Archive,
  key: string,
  format: LongFormat<T>,
  record: T,
): Promise<PutResult & Expected> {
  const folder = await mkdtemp(join(tmpdir(), 'evidence-record-'));
  const file = join(folder, 'record.json');
  try {
    await writeFile(file, toBlocks(recordPieces(record), BLOCK_BYTES), { mode: 0o600 });
    return (await putLongFile(archive, key, format, file)).stored;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Stores a record from a file, like `putLongRecord`. @returns the record as its reader has read it. */
export async function putLongFile<T>(
  archive: Archive,
  key: string,
  format: LongFormat<T>,
  file: string,
): Promise<{ record: T; stored: PutResult & Expected }> {
  const { record, ...content } = await readLongRecord(format, createReadStream(file), key);
  return { record, stored: { ...(await archive.put(key, { file }, content)), ...content } };
}

/** Stores the bytes of a record that its reader has already read. @throws EvidenceError as `Archive.put` does. */
export async function putReadable(archive: Archive, key: string, content: Uint8Array): Promise<StoredAs> {
  const { bytes, sha256, version_id } = await putBytes(archive, key, content);
  return { key, bytes, sha256, ...whereDefined({ version_id }) };
}

/** Returns the parts of the store's answer that a bundle's record keeps. */
export function whereKept({ version_id, lock, legal_hold }: PutResult) {
  return whereDefined({ version_id, lock, legal_hold });
}

/** Stores bytes that are in memory, unless they are already stored. @throws EvidenceError as `Archive.put` does. */
export async function putBytes(archive: Archive, key: string, bytes: Uint8Array): Promise<PutResult & Expected> {
  const content = { bytes: bytes.length, sha256: sha256(bytes) };
  return { ...(await archive.put(key, { bytes }, content)), ...content };
}

/**
 * Stores the public key before anything is signed with it. A key in the archive gains no trust by being there: it can
 * be found by its id after keys have changed, and a signature that does not match it is refuted without trusting
 * anyone.
 */
export async function keepPublicKey(archive: Archive, key: PublicKey): Promise<void> {
  await putBytes(archive, publicKeyKey(key.id), Buffer.from(toPem(key)));
}

/**
 * Stores a record next to a finalized run, for as long as the run record is kept.
 * @throws EvidenceError as `putRecord` and `lockAsRun` do.
 */
export async function putBesideRun<T>(
  archive: Archive,
  key: string,
  format: RecordFormat<T>,
  record: T,
  now: Date,
): Promise<StoredAs> {
  const stored = await putRecord(archive, key, format, record);
  await lockAsRun(archive, key, now);
  return stored;
}

/**
 * Locks an object that was added to a finalized run for as long as the run record is locked. The command that adds it
 * may run with another configuration than the export.
 *
 * @throws EvidenceError `store-refused`, `archive`.
 */
export async function lockAsRun(archive: Archive, key: string, now: Date): Promise<void> {
  const runId = runIdOf(key);
  if (runId === null) throw new TypeError(`${key} is of no run`);
  const { locks } = archive;
  const wanted = (await locks?.inspect(runRecordKey(runId)))?.lock ?? null;
  if (locks === null || wanted === null || wanted === 'hidden') return;
  const until = new Date(wanted.retain_until);
  const own = (await locks.inspect(key))?.lock ?? null;
  const isEnough = own === 'hidden' || (own !== null && new Date(own.retain_until) >= until);
  if (until > now && !isEnough) await locks.extend(key, until, wanted.mode);
}
