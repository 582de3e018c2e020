import { whereDefined } from '../../core/defined.ts';
import { isEvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import type { Rows } from '../../core/rows/rows.ts';
import type { Expected } from '../../verifier/archive/archive.ts';
import { readEarlierRuns } from '../../verifier/ledger/earlier-runs.ts';
import type { LedgerEnd } from '../../verifier/ledger/end.ts';
import { ATTEMPT, type Attempt } from '../../verifier/records/attempt.ts';
import { askedKey, attemptPrefix, documentKey, runRecordKey } from '../../verifier/records/keys.ts';
import type { RunDocument, RunRecord } from '../../verifier/records/record.ts';
import { recordPieces } from '../../verifier/records/record-bytes.ts';
import type { Unbound } from '../../verifier/records/stored-object.ts';
import { type FinalizedRun, readFinalizedRun } from '../../verifier/records/stored-run.ts';
import type { Archive, PutResult } from '../archive/archive.ts';
import { keepService } from '../ledger/service.ts';
import { putRecord } from '../records/put-record.ts';
import type { Report } from '../report/reports.ts';
import { beginRun, boundToBeginning, keepAsked, readBegun } from './asked.ts';
import { attestRun } from './attest.ts';
import { bindPieces, bindRecord } from './binding.ts';
import type { ExportContext, RunState, Runtime } from './context.ts';
import { measureLeftOver } from './leftovers.ts';
import { withFile } from './pieces.ts';
import { notOurs, requireBoundRun } from './records.ts';
import { areRecordsOf, type FrozenRun, freezeRun, readRunDraft, recordOf } from './run-draft.ts';
import { toRunRecord, withinRun } from './run-record.ts';
import type { RunResult, StoredRecord, StreamJobs } from './stream-jobs.ts';
import { archiveSupplements, judgeCollected } from './supplements.ts';

/** Freezes and finalizes the run, or records an attempt if something is missing. */
export async function concludeRun(unbound: ExportContext, run: RunState, jobs: StreamJobs): Promise<RunResult> {
  let context = unbound;
  const earlier = await readEarlierRuns(context.archive, run.ledger);
  const judged = await judgeCollected(context, run, jobs);
  const supplements = judged?.record ?? run.storedSupplements;
  const limitations = await context.archive.limitations();
  const record = toRunRecord(context, run, jobs, { earlier, limitations, supplements });
  // A run without any stream is not recorded, because it would block a later run that has streams.
  if (record.streams.length + record.failed.length + record.vanished.length === 0)
    return { record, state: 'open', unstamped: null };
  // A run without open streams is begun here.
  const begun =
    (await readBegun(context, context.question)) ?? (await beginRun(context, run.beginning, run.ledger.newest));
  context = await boundToBeginning(context, begun);
  // If all streams have vanished, missing supplements cannot arrive later either.
  const missing = record.streams.length === 0 ? 0 : record.reconciliation.supplements.missing;
  const open = jobs.incomplete.length + jobs.failed.length + missing > 0 && !context.finalizePartial;
  const frozen = open ? await readRunDraft(context, context.question.run_id) : null;
  // Another process has completed what this attempt lacks.
  if (frozen !== null) return finalizeDraft(context, run.ledger, frozen, jobs.recorded);
  if (open) {
    const documents = await leaveAttempt(context, run, jobs, record);
    const refused = jobs.refused > 0 && jobs.refused === jobs.failed.length + jobs.incomplete.length;
    return { record: { ...record, documents }, state: 'open', unstamped: null, refused };
  }
  if (judged !== null) record.supplements = await archiveSupplements(context, run, judged);
  record.left_over = await measureLeftOver(context.archive, record);
  return finalizeDraft(context, run.ledger, await freezeRun(context, record), jobs.recorded);
}

/** Finalizes a run that this or another process has frozen. @param known records that need no further verification. */
export async function finalizeDraft(
  context: ExportContext,
  ledger: LedgerEnd,
  frozen: FrozenRun,
  known: Rows<StoredRecord>,
): Promise<RunResult> {
  if (areRecordsOf(frozen, known)) return finalizeRun(context, ledger, frozen, known);
  const { recordsOf } = await import('./resume.ts');
  return finalizeRun(context, ledger, frozen, await recordsOf(context, frozen.draft, known));
}

/**
 * Finalizes a frozen run. The run record is the last file of the run: without it, the run is open. If `attestRun` is
 * interrupted, the next export adds what is missing.
 */
async function finalizeRun(
  context: ExportContext,
  ledger: LedgerEnd,
  frozen: FrozenRun,
  streams: Rows<StoredRecord>,
): Promise<RunResult> {
  const record = recordOf(frozen, streams);
  const { question } = context;
  const begun = await readBegun(context, question);
  if (begun === null) throw notOurs(askedKey(question.run_id), 'it is not there any more');
  // Usually written by the process that began the run; missing if the run was copied here from another archive.
  await keepService(context.archive, record.source.audit_url, ledger.newest);
  record.documents = [await keepAsked(context, begun), frozen.document, ...(await putReports(context, record))];
  const { binding: _binding, ...unbound } = record;
  record.binding = bindPieces(context.binding.key, recordPieces(unbound));
  let finalized: FinalizedRun;
  try {
    finalized = { record, sha256: (await putRunRecord(context, record)).sha256 };
  } catch (error) {
    const other = isEvidenceError(error, 'conflict') ? await readFinalizedRun(context.archive, record.run_id) : null;
    if (other === null) throw error;
    await requireBoundRun(context);
    return { record: other.record, state: 'already', unstamped: null };
  }
  const { entry, unstamped } = await attestRun(context, finalized, ledger);
  // Another process has finalized the same run with the same record.
  if (entry === 'existing') return { record, state: 'already', unstamped };
  context.runtime.listen({ type: 'finalized', runId: record.run_id, outcome: record.outcome });
  return { record, state: 'finalized', unstamped };
}

function putRunRecord(context: ExportContext, record: RunRecord): Promise<PutResult & Expected> {
  return withFile(context.runtime, 'run.json', recordPieces(record), async (file, content) => {
    const stored = await context.archive.put(runRecordKey(record.run_id), { file }, content);
    return { ...stored, ...content };
  });
}

async function leaveAttempt(
  context: ExportContext,
  run: RunState,
  jobs: StreamJobs,
  record: RunRecord,
): Promise<RunDocument[]> {
  const prefix = attemptPrefix(context.question.run_id, run.start.at);
  const attempt: Unbound<Attempt> = {
    format: FORMATS.attempt,
    run_id: context.question.run_id,
    started_at: run.start.at.toISOString(),
    ended_at: context.runtime.now().toISOString(),
    reconciliation: record.reconciliation,
    failed: [...record.failed],
    documents: [await putAttemptReport(context, record, prefix)],
    incomplete: jobs.incomplete.map(withinRun),
    supplements: record.supplements,
  };
  await putRecord(context.archive, `${prefix}attempt.json`, ATTEMPT, bindRecord(context.binding.key, attempt));
  return attempt.documents;
}

/** Archive for the documents, and the folder in which they are assembled. */
interface Place {
  archive: Archive;
  runtime: Pick<Runtime, 'workDirectory'>;
}

/** Renders and stores the reports of a frozen run. The same record yields the same bytes. */
export async function putReports(place: Place, record: RunRecord): Promise<RunDocument[]> {
  const { renderReports } = await import('../report/reports.ts');
  const documents: RunDocument[] = [];
  for await (const report of renderReports(record))
    documents.push(await putReport(place, documentKey(record.run_id, report.name), report));
  return documents;
}

/** Renders and stores the report of an attempt that ended incomplete. @param prefix of the attempt. */
async function putAttemptReport(place: Place, record: RunRecord, prefix: string): Promise<RunDocument> {
  const { renderAttemptReport } = await import('../report/reports.ts');
  const report = await renderAttemptReport(record);
  return putReport(place, `${prefix}${report.name}`, report);
}

function putReport({ archive, runtime }: Place, key: string, { name, pieces }: Report): Promise<RunDocument> {
  return withFile(runtime, name, pieces, async (file, content) => {
    const { version_id } = await archive.put(key, { file }, content);
    return { name, key, ...content, ...whereDefined({ version_id }) };
  });
}
