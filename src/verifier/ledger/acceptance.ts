import { sha256 } from '../../core/digest.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { ACCEPTANCE, type Acceptance } from '../records/record.ts';
import { readRecord } from '../records/record-bytes.ts';

/** @throws EvidenceError `unreadable`, `not-found`. */
export async function readAcceptance(
  archive: ReadableArchive,
  key: string,
): Promise<{ record: Acceptance; sha256: string }> {
  const bytes = await archive.readBytes(key, ACCEPTANCE.maxBytes);
  return { record: readRecord(ACCEPTANCE, bytes, key), sha256: sha256(bytes) };
}
