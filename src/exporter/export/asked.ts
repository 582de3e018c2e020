import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import type { Archive } from '../../verifier/archive/archive.ts';
import { readNewestEntry, type StoredLedgerEntry } from '../../verifier/ledger/ledger.ts';
import { keepService, readArchiveService, requireService } from '../../verifier/ledger/service.ts';
import { ASKED, type Asked, readAsked } from '../../verifier/records/asked.ts';
import { askedKey } from '../../verifier/records/keys.ts';
import { putReadable } from '../../verifier/records/put-record.ts';
import { differencesOf, type Question } from '../../verifier/records/question.ts';
import type { RunDocument } from '../../verifier/records/record.ts';
import { toReadableBytes } from '../../verifier/records/record-bytes.ts';
import { type FinalizedRun, readFinalizedRun } from '../../verifier/records/stored-run.ts';
import { bindRecord, isBoundRecord } from './binding.ts';
import type { Beginning, Binding, ExportContext, ServiceInUse } from './context.ts';
import { notOurs } from './records.ts';

/** A run that was begun. */
export interface BegunRun {
  asked: Asked;
  bytes: Uint8Array;
}

/** Who asks for a run. */
interface Asker {
  archive: Archive;
  service: Pick<ServiceInUse, 'isMoved'>;
  binding: Pick<Binding, 'keyFor'>;
}

const NAME = 'asked.json';

/**
 * What an export finds out before it asks anything of the service.
 * @returns the run, where it is finalized.
 * @throws EvidenceError as `checkService`, `requireSame` and `readBegun` do.
 */
export async function checkQuestion(asker: Asker, question: Question): Promise<FinalizedRun | null> {
  const finalized = await readFinalizedRun(asker.archive, question.run_id);
  await checkSameService(asker, question, await readNewestEntry(asker.archive), finalized !== null);
  if (finalized === null) await readBegun(asker, question);
  else requireSame(finalized.record, question, 'finalized');
  return finalized;
}

/**
 * An archive is of one service.
 * @param isFinalized what is asked for: the service may have moved with it.
 * @returns the address that the service moved from; null where it did not.
 * @throws EvidenceError as `requireService` does.
 */
export async function checkSameService(
  { archive, service }: Pick<Asker, 'archive' | 'service'>,
  { source: { audit_url: auditUrl } }: Question,
  newest: StoredLedgerEntry | null,
  isFinalized = false,
): Promise<string | null> {
  const held = await readArchiveService(archive, newest);
  const isMoved = service.isMoved && !(isFinalized && held === auditUrl);
  return requireService(held, newest, { auditUrl, isMoved });
}

/**
 * What a run was begun with; null where it was not.
 * @throws EvidenceError `conflict` where that was not written by an export with the same keys; `config` where it is not
 * what is asked for now.
 */
export async function readBegun(
  { archive, binding }: Pick<Asker, 'archive' | 'binding'>,
  question: Question,
): Promise<BegunRun | null> {
  const key = askedKey(question.run_id);
  if ((await archive.stat(key)) === null) return null;
  const { asked, bytes } = await readAsked(archive, question.run_id);
  if (asked.run_id !== question.run_id || !isBoundRecord(await binding.keyFor(asked), bytes))
    throw notOurs(key, 'it is not bound to it: keys have changed since, or somebody else wrote it');
  requireSame(asked, question, 'begun');
  return { asked, bytes };
}

/** Why a run that was begun is not the one that is asked for; null where it is, or where nothing of ours was begun. */
export async function whyOther(asker: Asker, question: Question): Promise<EvidenceError | null> {
  try {
    await readBegun(asker, question);
    return null;
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    return error.code === 'config' ? error : null;
  }
}

export function beginningOf({
  begun_at,
  begun_at_by_service: byService,
}: Pick<Asked, 'begun_at' | 'begun_at_by_service'>): Beginning {
  return { at: new Date(begun_at), byService: byService === null ? null : new Date(byService) };
}

/** Writes down what the run is asked for. Where another process was the first to begin it, its word counts. */
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

/** Stores it, or finds it stored: either way the archive says in which version. */
export async function keepAsked({ archive }: Pick<Asker, 'archive'>, { asked, bytes }: BegunRun): Promise<RunDocument> {
  return { name: NAME, ...(await putReadable(archive, askedKey(asked.run_id), bytes)) };
}

/**
 * A run is gone on with, or answered with, only where the same is asked for.
 * @throws EvidenceError `config` that names what differs.
 */
export function requireSame(was: Question, asked: Question, state: 'begun' | 'finalized'): void {
  const differences = differencesOf(was, asked);
  if (differences.length === 0) return;
  throw new EvidenceError(
    'config',
    `run ${was.run_id} was ${state} for another question than this one: ${differences.join('; ')}`,
    {
      nextStep:
        'Nothing was written. Ask as it was asked then, or under another name with --request, or export it anew with --revise.',
    },
  );
}
