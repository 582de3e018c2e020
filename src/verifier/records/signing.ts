import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { Archive } from '../archive/archive.ts';
import type { RecordFormat } from '../model/record-format.ts';
import { type Envelope, envelopeSchema, openEnvelope, toEnvelope } from '../signature/envelope.ts';
import type { SigningKey } from '../signature/key.ts';
import { runEnvelopeKey } from './keys.ts';
import { keepPublicKey } from './public-key.ts';
import { putRecord } from './put-record.ts';
import type { RunRecord } from './record.ts';
import { readRecord, toRecordBytes } from './record-bytes.ts';
import { STATEMENT, toStatement } from './statement.ts';

const ENVELOPE: RecordFormat<Envelope> = { schema: envelopeSchema, maxBytes: 2 ** 30 };

/** Stores the signed statement of a finalized run, unless another export of the same run was faster. */
export async function signRun(
  archive: Archive,
  run: { record: RunRecord; sha256: string },
  key: SigningKey,
): Promise<void> {
  await keepPublicKey(archive, key);
  const place = runEnvelopeKey(run.record.run_id);
  const statement = toStatement(run.record, run.sha256);
  readRecord(STATEMENT, statement.payload, place);
  try {
    await putRecord(archive, place, ENVELOPE, toEnvelope(statement, key));
  } catch (error) {
    // Signatures of one statement differ between keys, and with ECDSA each time: any one will do.
    if (!isEvidenceError(error, 'conflict')) throw error;
  }
}

/** @throws EvidenceError `unreadable` when it is not an envelope as we write them, to the byte; `not-found`. */
export async function readRunEnvelope(archive: Archive, runId: string) {
  const key = runEnvelopeKey(runId);
  const bytes = await archive.readBytes(key, ENVELOPE.maxBytes);
  const envelope = readRecord(ENVELOPE, bytes, key);
  if (!Buffer.from(toRecordBytes(envelope)).equals(bytes))
    throw new EvidenceError('unreadable', `${key} is not written as envelopes are`);
  return openEnvelope(envelope);
}
