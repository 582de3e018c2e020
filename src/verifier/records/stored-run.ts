import type { ReadableArchive } from '../archive/archive.ts';
import { runRecordKey } from './keys.ts';
import { readLongRecord } from './long-record.ts';
import { RUN_RECORD, type RunRecord } from './record.ts';

export interface FinalizedRun {
  record: RunRecord;
  /** SHA-256 of the record's bytes. */
  sha256: string;
}

/** Reads the run record of a run; returns null if it is not finalized. @throws EvidenceError like `readRunRecord`. */
export async function readFinalizedRun(
  archive: Pick<ReadableArchive, 'read' | 'stat'>,
  runId: string,
): Promise<FinalizedRun | null> {
  const key = runRecordKey(runId);
  return (await archive.stat(key)) === null ? null : readRunRecord(archive, key);
}

/** Reads a run record. @throws EvidenceError `unreadable` if the object is no run record or is too large. */
export async function readRunRecord(archive: Pick<ReadableArchive, 'read'>, key: string): Promise<FinalizedRun> {
  const { record, sha256 } = await readLongRecord(RUN_RECORD, await archive.read(key), key);
  return { record, sha256 };
}
