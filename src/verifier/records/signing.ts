import { sha256 } from '../../core/digest.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { Archive } from '../archive/archive.ts';
import { envelopeSchema, openEnvelope, toEnvelope } from '../signature/envelope.ts';
import type { SigningKey } from '../signature/key.ts';
import { runEnvelopeKey } from './keys.ts';
import { keepPublicKey } from './public-key.ts';
import type { RunRecord } from './record.ts';
import { readRecord, toRecordBytes } from './record-bytes.ts';
import { toStatement } from './statement.ts';

const MAX_ENVELOPE_BYTES = 2 ** 30;

/** Stores the signed statement of a finalized run, unless another export of the same run was faster. */
export async function signRun(
  archive: Archive,
  run: { record: RunRecord; sha256: string },
  key: SigningKey,
): Promise<void> {
  await keepPublicKey(archive, key);
  const bytes = toRecordBytes(toEnvelope(toStatement(run.record, run.sha256), key));
  try {
    const expected = { sha256: sha256(bytes), bytes: bytes.length };
    await archive.put(runEnvelopeKey(run.record.run_id), { bytes }, expected);
  } catch (error) {
    // Signatures of one statement differ between keys, and with ECDSA each time: any one will do.
    if (!isEvidenceError(error, 'conflict')) throw error;
  }
}

/** @throws EvidenceError `unreadable` when it is not an envelope as we write them, to the byte; `not-found`. */
export async function readRunEnvelope(archive: Archive, runId: string) {
  const key = runEnvelopeKey(runId);
  const bytes = await archive.readBytes(key, MAX_ENVELOPE_BYTES);
  const envelope = readRecord(envelopeSchema, bytes, key);
  if (!Buffer.from(toRecordBytes(envelope)).equals(bytes))
    throw new EvidenceError('unreadable', `${key} is not written as envelopes are`);
  return openEnvelope(envelope);
}
