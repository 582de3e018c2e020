import { sha256 } from '../../core/digest.ts';
import type { Archive } from '../archive/archive.ts';
import { runRecordKey } from './keys.ts';
import { MAX_RUN_RECORD_BYTES, RUN_RECORD, type RunRecord } from './record.ts';
import { parseRecord, toRecord } from './record-bytes.ts';

export interface FinalizedRun {
  record: RunRecord;
  /** Of its bytes. */
  sha256: string;
}

/** The run record of a finalized run; null when it is not finalized. @throws EvidenceError as `readRunRecord` does. */
export async function readFinalizedRun(
  archive: Pick<Archive, 'readBytes' | 'stat'>,
  runId: string,
): Promise<FinalizedRun | null> {
  const key = runRecordKey(runId);
  return (await archive.stat(key)) === null ? null : readRunRecord(archive, key);
}

/** Reads a run record. @throws EvidenceError `unreadable` where the object is none, or too large. */
export async function readRunRecord(archive: Pick<Archive, 'readBytes'>, key: string): Promise<FinalizedRun> {
  const { value, digest } = await readValue(archive, key);
  return { record: toRecord(RUN_RECORD.schema, value, key), sha256: digest };
}

/** The bytes are not kept while the record is made of what they say. */
async function readValue(archive: Pick<Archive, 'readBytes'>, key: string) {
  const bytes = await archive.readBytes(key, MAX_RUN_RECORD_BYTES);
  const digest = sha256(bytes);
  return { digest, value: parseRecord(bytes, key, { spendsBytes: true }) };
}
