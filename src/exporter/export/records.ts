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

/** The run that a record is of, and where it is kept. */
type OfRun = Pick<ExportContext, 'archive' | 'question' | 'binding'>;

/** Returns the error for an object in the archive that this run did not put there, or that is not so any more. */
export function notOurs(key: string, why: string): EvidenceError {
  return new EvidenceError('conflict', `${key} is not taken for this run's: ${why}`, {
    nextStep: 'Nothing was overwritten. Keep the archive as it is and export again with --revise.',
  });
}

/**
 * A stream record that this run wrote.
 * @throws EvidenceError `conflict` for any other.
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
    throw notOurs(key, 'it is not where a record of what it says belongs');
  return { record, bytes };
}

/**
 * Bytes of the largest record of a stream that is written: a thousand findings of each of several claims fit, and so do a
 * number of such records into that of their run.
 */
const MAX_WRITTEN_BYTES = 8 * 2 ** 20;

/**
 * The bytes of a stream's record. Asked for before its bundle is stored: a stored bundle whose record cannot be stored
 * would stand in the way of the run.
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
 * Writes the record of a stream, which is done then. Another process that exports the same run may have been the first to
 * record the same bundle.
 *
 * @throws EvidenceError `conflict` when a record is there that this run did not write, or that says something else.
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
      throw notOurs(key, 'it says something else of the stream than what was found now');
    return { record: theirs, ...(await putReadable(context.archive, key, bytes)) };
  }
}

/**
 * Nothing is signed, recorded or reported that this run did not finalize itself.
 * @throws EvidenceError `conflict`.
 */
export async function requireBoundRun({ archive, question, binding }: OfRun): Promise<void> {
  const key = runRecordKey(question.run_id);
  if (await isBoundStream(binding.key, await archive.read(key))) return;
  throw notOurs(key, 'it is not bound to it, so it was neither signed nor recorded in the ledger');
}

/** Reports whether two records would be the same when they are stored, but for the order of their members. */
export function saysTheSame(one: object, other: object): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));
}
