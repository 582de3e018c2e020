import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import { findEntry, readNewestEntry, type StoredLedgerEntry } from '../../verifier/ledger/ledger.ts';
import { readPast } from '../../verifier/ledger/past.ts';
import { askedKey, runRecordKey } from '../../verifier/records/keys.ts';
import { ASKED, type Asked, differencesOf, type Question, readAsked } from '../../verifier/records/question.ts';
import type { RunDocument } from '../../verifier/records/record.ts';
import { toReadableBytes } from '../../verifier/records/record-bytes.ts';
import { type FinalizedRun, readFinalizedRun } from '../../verifier/records/stored-run.ts';
import type { Archive } from '../archive/archive.ts';
import { keepService, readArchiveService, requireService } from '../ledger/service.ts';
import { putReadable } from '../records/put-record.ts';
import { bindRecord, isBoundRecord, newRunNonce } from './binding.ts';
import type { Beginning, Binding, ExportContext, ServiceInUse } from './context.ts';
import { notOurs } from './records.ts';
import { isBegun } from './run-id.ts';

/** Request of a run that was begun, with its bytes. */
export interface BegunRun {
  asked: Asked;
  bytes: Uint8Array;
}

/** Export that asks for a run. */
interface Asker {
  archive: Archive;
  service: Pick<ServiceInUse, 'isMoved'>;
  binding: Pick<Binding, 'keyFor'>;
}

const NAME = 'asked.json';

/**
 * Checks what an export must know before it sends any request to the service.
 * @returns the run if it is finalized.
 * @throws EvidenceError as `checkSameService`, `requireSame` and `readBegun` do.
 */
export async function checkQuestion(asker: Asker, question: Question): Promise<FinalizedRun | null> {
  const finalized = await readFinalizedRun(asker.archive, question.run_id);
  await checkSameService(asker, question, await readNewestEntry(asker.archive), {
    isFinalized: finalized !== null,
  });
  if (finalized === null) await readBegun(asker, question);
  else requireSame(finalized.record, question, 'finalized');
  return finalized;
}

/**
 * Checks that the evidence comes from the archive's service.
 * @param isFinalized the requested run is finalized, so the move may already be recorded with it.
 * @returns the address that the service moved from; null if it did not move.
 * @throws EvidenceError as `requireService` does.
 */
export async function checkSameService(
  { archive, service }: Pick<Asker, 'archive' | 'service'>,
  { source: { audit_url: auditUrl } }: Question,
  newest: StoredLedgerEntry | null,
  { isFinalized = false } = {},
): Promise<string | null> {
  const held = await readArchiveService(archive, newest);
  const isMoved = service.isMoved && !(isFinalized && held === auditUrl);
  return requireService(held, newest, { auditUrl, isMoved });
}

/**
 * Returns the request that a run was begun with; null if the run was not begun.
 * @throws EvidenceError `conflict` if an export with other keys wrote it; `config` if it differs from the present
 * request.
 */
export async function readBegun(
  { archive, binding }: Pick<Asker, 'archive' | 'binding'>,
  question: Question,
): Promise<BegunRun | null> {
  const key = askedKey(question.run_id);
  if ((await archive.stat(key)) === null) return null;
  const { asked, bytes } = await readAsked(archive, question.run_id).catch((error: unknown) => {
    throw isEvidenceError(error, 'unreadable') ? notOurs(key, error.message) : error;
  });
  if (asked.run_id !== question.run_id || !isBoundRecord(await binding.keyFor(asked), bytes))
    throw notOurs(key, NOT_BOUND);
  requireSame(asked, question, 'begun');
  return { asked, bytes };
}

const NOT_BOUND = 'it is not bound to it: keys have changed since, or somebody else wrote it';

/**
 * Returns an error that lists how a begun run differs from the question. Null if they agree, or if this export's keys
 * began no such run.
 */
export async function whyOther(asker: Asker, question: Question): Promise<EvidenceError | null> {
  try {
    await readBegun(asker, question);
    return null;
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    return error.code === 'config' ? error : null;
  }
}

/**
 * Explains why an unfinished run of the same question cannot be continued although nothing is wrong with it: it was
 * abandoned, or begun under a key that has since been replaced. The work is then repeated in a revision.
 * @returns null if the run is recorded, bound to this export's key, not begun, or in need of investigation.
 */
export async function whyNotOurs({ archive, binding }: Asker, question: Question): Promise<string | null> {
  const { run_id: runId } = question;
  if (!(await isBegun(archive, runId))) return null;
  if ((await archive.stat(runRecordKey(runId))) !== null && (await findEntry(archive, runId)) !== null) return null;
  const { abandoned } = await readPast(archive);
  if (abandoned.has(runId)) return `run ${runId} was abandoned; exporting a revision of it`;
  const found = await findAsked(archive, runId);
  if (found === null || found.asked.run_id !== runId || differencesOf(found.asked, question).length > 0) return null;
  if (isBoundRecord(await binding.keyFor(found.asked), found.bytes)) return null;
  return `run ${runId} was started with another key or by someone else; ignoring it and exporting a revision`;
}

/** Binds an export to a run: to the beginning in the archive, or to a new one. */
export async function bindTo(
  { archive }: Pick<Asker, 'archive'>,
  question: Question,
  keyFor: Binding['keyFor'],
): Promise<Binding> {
  const nonce = (await findAsked(archive, question.run_id))?.asked.nonce ?? newRunNonce();
  return { key: await keyFor({ ...question, nonce }), nonce, keyFor };
}

/** Returns null if the beginning is missing or unreadable. */
async function findAsked(archive: Archive, runId: string): Promise<BegunRun | null> {
  if ((await archive.stat(askedKey(runId))) === null) return null;
  try {
    return await readAsked(archive, runId);
  } catch (error) {
    if (isEvidenceError(error, 'unreadable')) return null;
    throw error;
  }
}

/** Rebinds an export to the recorded beginning, because another process may have begun the run first. */
export async function boundToBeginning(context: ExportContext, { asked }: BegunRun): Promise<ExportContext> {
  const { binding, question } = context;
  if (asked.nonce === binding.nonce) return context;
  return { ...context, binding: await bindTo(context, question, binding.keyFor) };
}

export function beginningOf({
  begun_at,
  begun_at_by_service: byService,
}: Pick<Asked, 'begun_at' | 'begun_at_by_service'>): Beginning {
  return { at: new Date(begun_at), byService: byService === null ? null : new Date(byService) };
}

/** Records the request of a run. If another process began the run first, its record is returned. */
export async function beginRun(
  context: ExportContext,
  { at, byService }: Beginning,
  newest: StoredLedgerEntry | null,
): Promise<BegunRun> {
  const { question } = context;
  const asked: Asked = bindRecord(context.binding.key, {
    format: FORMATS.asked,
    run_id: question.run_id,
    source: { ...question.source, contract: context.service.contract.name },
    period: question.period,
    scope: question.scope,
    begun_at: at.toISOString(),
    begun_at_by_service: byService?.toISOString() ?? null,
    nonce: context.binding.nonce,
    operator: context.maker.operator,
  });
  const begun = { asked, bytes: toReadableBytes(ASKED, asked, askedKey(question.run_id)) };
  await keepService(context.archive, question.source.audit_url, newest);
  try {
    await keepAsked(context, begun);
    return begun;
  } catch (error) {
    const other = isEvidenceError(error, 'conflict') ? await readBegun(context, question) : null;
    if (other === null) throw error;
    return other;
  }
}

/** Stores the record unless it is already stored, and returns its version in the archive. */
export async function keepAsked({ archive }: Pick<Asker, 'archive'>, { asked, bytes }: BegunRun): Promise<RunDocument> {
  return { name: NAME, ...(await putReadable(archive, askedKey(asked.run_id), bytes)) };
}

/**
 * Checks that a begun or finalized run was made for the same question.
 * @throws EvidenceError `config` whose message lists the differences.
 */
export function requireSame(was: Question, asked: Question, state: 'begun' | 'finalized'): void {
  const differences = differencesOf(was, asked);
  if (differences.length === 0) return;
  throw new EvidenceError(
    'config',
    `run ${was.run_id} was ${state} with different options: ${differences.join('; ')}`,
    {
      nextStep:
        'Nothing was written. Use the same options as before, another name with --request, or export a revision with --revise.',
    },
  );
}
