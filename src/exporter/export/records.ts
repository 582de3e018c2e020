import { isDeepStrictEqual } from 'node:util';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { bundleFileName, slugOf } from '../../verifier/bundle/layout.ts';
import { bundleKey, runRecordKey, streamRecordKey } from '../../verifier/records/keys.ts';
import { STREAM_RECORD, type StreamRecord } from '../../verifier/records/record.ts';
import { readRecord, toReadableBytes } from '../../verifier/records/record-bytes.ts';
import type { Unbound } from '../../verifier/records/stored-object.ts';
import { putReadable } from '../records/put-record.ts';
import { bindRecord, isBoundRecord, isBoundStream } from './binding.ts';
import type { ExportContext } from './context.ts';
import type { StoredRecord } from './stream-jobs.ts';

/** Run that a record belongs to, and its archive. */
type OfRun = Pick<ExportContext, 'archive' | 'question' | 'binding'>;

/** Returns the error for an object in the archive that this run did not write, or that has changed since. */
export function notOurs(key: string, why: string): EvidenceError {
  return new EvidenceError('conflict', `${key} is not accepted for this run: ${why}`, {
    nextStep: 'Nothing was overwritten. Leave the archive unchanged and export again with --revise.',
  });
}

/**
 * Reads a stream record that this run wrote.
 * @throws EvidenceError `conflict` for any other record.
 */
export async function readStreamRecord(
  { archive, question: { run_id: runId }, binding }: OfRun,
  key: string,
): Promise<{ record: Unbound<StreamRecord>; bytes: Uint8Array }> {
  const bytes = await archive.readBytes(key, STREAM_RECORD.maxBytes);
  if (!isBoundRecord(binding.key, bytes)) throw notOurs(key, 'it is not bound to it');
  const { binding: _binding, ...record } = readRecord(STREAM_RECORD, bytes, key);
  const slug = slugOf(record.stream_id);
  const status = record.partial ? 'PARTIAL' : 'COMPLETE';
  const place = bundleKey(runId, bundleFileName(slug, status, record.bundle.encrypted !== undefined));
  if (record.run_id !== runId || key !== streamRecordKey(runId, slug) || record.bundle.key !== place)
    throw notOurs(key, 'it is not under the key of its stream');
  return { record, bytes };
}

/**
 * Maximum size of a stream record that is written: room for a thousand findings for each of several claims, and small
 * enough for the run record to hold several such records.
 */
const MAX_WRITTEN_BYTES = 8 * 2 ** 20;

/**
 * Returns the bytes of a stream's record. Called before the bundle is stored: a bundle whose record cannot be stored
 * would block the run.
 *
 * @throws EvidenceError as `toReadableBytes` does.
 */
export function readableStreamRecord(
  { question, binding }: Pick<OfRun, 'question' | 'binding'>,
  record: Unbound<StreamRecord>,
): Uint8Array {
  const key = streamRecordKey(question.run_id, slugOf(record.stream_id));
  return toReadableBytes({ ...STREAM_RECORD, maxBytes: MAX_WRITTEN_BYTES }, bindRecord(binding.key, record), key);
}

/**
 * Stores the record of a stream, which completes the stream. Another process that exports the same run may already have
 * recorded the same bundle.
 *
 * @throws EvidenceError `conflict` if a record exists that another run wrote or that differs.
 */
export async function putStreamRecord(context: OfRun, record: Unbound<StreamRecord>): Promise<StoredRecord> {
  const key = streamRecordKey(context.question.run_id, slugOf(record.stream_id));
  try {
    return { record, ...(await putReadable(context.archive, key, readableStreamRecord(context, record))) };
  } catch (error) {
    if (!isEvidenceError(error, 'conflict')) throw error;
    const { record: theirs, bytes } = await readStreamRecord(context, key);
    const sameBundle = theirs.bundle.sha256 === record.bundle.sha256;
    if (
      !sameBundle ||
      !saysTheSame({ ...theirs, bundle: null, recorded_at: '' }, { ...record, bundle: null, recorded_at: '' })
    )
      throw notOurs(key, 'it differs from the current result for the stream');
    return { record: theirs, ...(await putReadable(context.archive, key, bytes)) };
  }
}

/**
 * Throws unless this run wrote the run record, so that no foreign record is signed, added to the ledger or reported.
 * @throws EvidenceError `conflict`.
 */
export async function requireBoundRun({ archive, question, binding }: OfRun): Promise<void> {
  const key = runRecordKey(question.run_id);
  if (await isBoundStream(binding.key, await archive.read(key))) return;
  throw notOurs(key, 'it is not bound to it, so it was neither signed nor recorded in the ledger');
}

/** Reports whether two records are equal once stored, apart from the order of members. */
export function saysTheSame(one: object, other: object): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));
}
