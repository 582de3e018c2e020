import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toBlocks } from '../../core/chunks.ts';
import type { Expected } from '../../verifier/archive/archive.ts';
import type { LongFormat, RecordFormat } from '../../verifier/model/record-format.ts';
import { readLongRecord } from '../../verifier/records/long-record.ts';
import { recordPieces, toReadableBytes } from '../../verifier/records/record-bytes.ts';
import type { StoredAs } from '../../verifier/records/stored-object.ts';
import type { Archive, PutResult } from '../archive/archive.ts';
import { putBytes } from './put-bytes.ts';

const BLOCK_BYTES = 256 * 1024;

/**
 * Stores a record, or finds it stored: either way as other records name it.
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
 * Stores a record whose members may be too long for memory, or finds it stored, once its own reader has read it.
 * @throws EvidenceError as `readLongRecord` and `Archive.put` do; nothing is stored then.
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

/** The same of one that lies in a file. @returns it as its reader has read it. */
export async function putLongFile<T>(
  archive: Archive,
  key: string,
  format: LongFormat<T>,
  file: string,
): Promise<{ record: T; stored: PutResult & Expected }> {
  const { record, ...content } = await readLongRecord(format, createReadStream(file), key);
  return { record, stored: { ...(await archive.put(key, { file }, content)), ...content } };
}

/** Stores the bytes of a record that its reader has read. @throws EvidenceError as `Archive.put` does. */
export async function putReadable(archive: Archive, key: string, content: Uint8Array): Promise<StoredAs> {
  const { bytes, sha256, version_id } = await putBytes(archive, key, content);
  return { key, bytes, sha256, ...(version_id === undefined ? {} : { version_id }) };
}

/** Returns the parts of the store's answer that a bundle's record keeps. */
export function whereKept({ version_id, lock, legal_hold }: PutResult) {
  return {
    ...(version_id === undefined ? {} : { version_id }),
    ...(lock === undefined ? {} : { lock }),
    ...(legal_hold === undefined ? {} : { legal_hold }),
  };
}
