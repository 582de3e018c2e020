import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { LedgerEnd } from '../../verifier/ledger/end.ts';
import { runEnvelopeKey, stampKey } from '../../verifier/records/keys.ts';
import { readStamps } from '../../verifier/records/stamps.ts';
import { envelopePieces, toStatement } from '../../verifier/records/statement.ts';
import type { FinalizedRun } from '../../verifier/records/stored-run.ts';
import { sign } from '../../verifier/signature/envelope.ts';
import { appendEntry, catchUp } from '../ledger/append.ts';
import { keepPublicKey } from '../records/put-record.ts';
import type { ExportContext } from './context.ts';
import { withFile } from './pieces.ts';
import { type FreshStamp, keepStamp, requestStamp } from './stamp.ts';

/**
 * Adds the signed statement of a finalized run, its ledger entry and its time-stamp, in this order. Each covers the run
 * record and is stored completely or not at all, so after an interruption the same call adds the missing ones. The
 * time-stamp comes last: the authority may be unreachable for days, and a token can be added later.
 *
 * @param known end of the ledger when it was read. Later entries are checked before anything is signed.
 * @returns `existing` if another process recorded the run first, and the error that prevented a required time-stamp.
 */
export async function attestRun(context: ExportContext, finalized: FinalizedRun, known: LedgerEnd) {
  const { archive, signing } = context;
  const end = await catchUp(archive, known, signing);
  if (finalized.record.signed) await signFinalized(context, finalized);
  const entry = await appendEntry(archive, { kind: 'run', ...finalized }, end, signing);
  return { entry, unstamped: await stampFinalized(context, finalized) };
}

/** Stores the signed statement of a run, unless another export of the same run has already stored one. */
async function signFinalized(
  { archive, runtime, signing: { signingKey } }: ExportContext,
  { record, sha256 }: FinalizedRun,
): Promise<void> {
  const { run_id } = record;
  const key = runEnvelopeKey(run_id);
  if ((await archive.stat(key)) !== null) return;
  if (signingKey === null)
    throw new EvidenceError('config', `run ${run_id} is finalized and must be signed, but no signing key is given`, {
      nextStep: 'Name the key in sign.key_file and run the same command again.',
    });
  await keepPublicKey(archive, signingKey);
  const statement = toStatement(record, sha256);
  const pieces = envelopePieces(statement, sign(statement, signingKey));
  try {
    await withFile(runtime, 'run.dsse.json', pieces, (file, content) => archive.put(key, { file }, content));
  } catch (error) {
    // Signatures over one statement differ by key, and with ECDSA on each call; any of them is valid.
    if (!isEvidenceError(error, 'conflict')) throw error;
  }
}

/** Requests the run's first time-stamp if it needs one. @returns the error if there is no time-stamp. */
export async function stampFinalized(
  { archive, signing: { stamping }, runtime: { now, signal } }: ExportContext,
  { record }: FinalizedRun,
): Promise<EvidenceError | null> {
  if (record.timestamp_authority === null || (await archive.stat(stampKey(record.run_id, 1))) !== null) return null;
  if (stamping === null)
    return new EvidenceError('config', `run ${record.run_id} has no time-stamp yet, but no authority is configured`, {
      nextStep: `Set sign.tsa_url; the run is to be stamped by ${record.timestamp_authority}.`,
    });
  const stamps = await readStamps(archive, record.run_id);
  const options = { notBefore: new Date(record.finished_at), outlasting: null, now: now() };
  let stamp: FreshStamp;
  try {
    stamp = await requestStamp(stamps, stamping, options);
  } catch (error) {
    signal.throwIfAborted();
    if (isEvidenceError(error)) return error;
    throw error;
  }
  await keepStamp(archive, stamp);
  return null;
}
