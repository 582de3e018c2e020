import { sha256 } from '../../core/digest.ts';
import type { Expected } from '../../verifier/archive/archive.ts';
import type { Archive, PutResult } from '../archive/archive.ts';

/** Stores what is at hand, or finds it stored. @throws EvidenceError as `Archive.put` does. */
export async function putBytes(archive: Archive, key: string, bytes: Uint8Array): Promise<PutResult & Expected> {
  const content = { bytes: bytes.length, sha256: sha256(bytes) };
  return { ...(await archive.put(key, { bytes }, content)), ...content };
}
