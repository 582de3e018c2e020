import { sha256 } from '../../core/digest.ts';
import type { Archive } from '../archive/archive.ts';
import { type Acceptance, acceptanceSchema } from '../records/record.ts';
import { readRecord } from '../records/record-bytes.ts';

const MAX_ACCEPTANCE_BYTES = 2 ** 20;

/** @throws EvidenceError `unreadable`, `not-found`. */
export async function readAcceptance(archive: Archive, key: string): Promise<{ record: Acceptance; sha256: string }> {
  const bytes = await archive.readBytes(key, MAX_ACCEPTANCE_BYTES);
  return { record: readRecord(acceptanceSchema, bytes, key), sha256: sha256(bytes) };
}
