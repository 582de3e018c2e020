import type { Archive } from '../archive/archive.ts';
import { sha256 } from '../encoding/digest.ts';
import { EvidenceError, isEvidenceError } from '../errors.ts';
import { closingKey } from '../ledger/keys.ts';
import {
  type Closing,
  closingSchema,
  type RunDocument,
  type RunRecord,
  readRecord,
  toRecordBytes,
} from '../ledger/record.ts';
import { putDocument } from './documents.ts';
import type { StoredRecord } from './journeys.ts';

/** A run that is closed: nothing about it changes any more, only its reports and its record may be missing. */
export interface ClosedRun {
  closing: Closing;
  document: RunDocument;
}

const MAX_CLOSING_BYTES = 2 ** 30;
const NAME = 'closing.json';

/** Null when the run was not closed yet. */
export async function readClosing(archive: Archive, runId: string): Promise<ClosedRun | null> {
  const key = closingKey(runId);
  if ((await archive.stat(key)) === null) return null;
  return keepClosing(archive, key, await archive.readBytes(key, MAX_CLOSING_BYTES));
}

/** Writes down what the run came to. Where another process closed the same run first, its word counts. */
export async function closeRun(archive: Archive, record: RunRecord): Promise<ClosedRun> {
  const { format: _format, documents: _documents, streams, ...rest } = record;
  const records = streams.flatMap(({ record: stored }) => (stored === null ? [] : [stored]));
  const closing: Closing = { format: 'evidence-closing/1', ...rest, streams: records };
  try {
    return await keepClosing(archive, closingKey(record.run_id), toRecordBytes(closing));
  } catch (error) {
    const other = isEvidenceError(error, 'conflict') ? await readClosing(archive, record.run_id) : null;
    if (other === null) throw error;
    return other;
  }
}

/**
 * Stores it, or finds it stored: either way the archive says in which version. It is taken as whoever goes on with it
 * will read it, down to the order of its members, since the reports are made from it.
 */
async function keepClosing(archive: Archive, key: string, bytes: Uint8Array): Promise<ClosedRun> {
  const closing = readRecord(closingSchema, bytes, key);
  const content = { bytes: bytes.length, sha256: sha256(bytes) };
  return { closing, document: await putDocument(archive, key, NAME, { bytes }, content) };
}

/**
 * The record of a closed run, but for its documents.
 * @param recorded the stream records that are there.
 * @throws EvidenceError `conflict` when one of those that it was closed with is not among them.
 */
export function recordOf({ closing }: ClosedRun, recorded: readonly StoredRecord[]): RunRecord {
  const { format: _format, streams, ...rest } = closing;
  const byKey = new Map(recorded.map((stored) => [stored.key, stored]));
  return {
    format: 'evidence-run/1',
    ...rest,
    streams: streams.map((stored) => {
      const found = byKey.get(stored.key);
      if (found?.sha256 !== stored.sha256)
        throw new EvidenceError('conflict', `${stored.key} is not the record that the run was closed with`, {
          nextStep: 'Keep the archive as it is and export again with --revise.',
        });
      const { format: _ofStream, run_id: _run, recorded_at: _at, ...record } = found.record;
      return { ...record, record: stored };
    }),
    documents: [],
  };
}
