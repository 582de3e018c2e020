import type { Archive } from '../archive/archive.ts';
import { putBytes } from '../archive/put.ts';
import type { RecordFormat } from '../model/record-format.ts';
import { toReadableBytes } from './record-bytes.ts';
import type { StoredAs } from './stored-object.ts';

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

/** Stores the bytes of a record that its reader has read. @throws EvidenceError as `Archive.put` does. */
export async function putReadable(archive: Archive, key: string, content: Uint8Array): Promise<StoredAs> {
  const { bytes, sha256, version_id } = await putBytes(archive, key, content);
  return { key, bytes, sha256, ...(version_id === undefined ? {} : { version_id }) };
}
