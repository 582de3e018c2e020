import { sha256 } from '../../core/digest.ts';
import type { Archive } from '../../verifier/archive/archive.ts';
import type { StoredAs } from '../../verifier/records/stored-object.ts';

/** Stores what is at hand, or finds it stored: either way as a record names it. */
export async function putBytes(archive: Archive, key: string, bytes: Uint8Array): Promise<StoredAs> {
  const content = { bytes: bytes.length, sha256: sha256(bytes) };
  const { version_id } = await archive.put(key, { bytes }, content);
  return { key, ...content, ...(version_id === undefined ? {} : { version_id }) };
}
