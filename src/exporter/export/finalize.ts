import { isEvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import type { Expected, PutResult } from '../../verifier/archive/archive.ts';
import { type EarlierRuns, readEarlierRuns } from '../../verifier/ledger/earlier-runs.ts';
import type { LedgerEnd } from '../../verifier/ledger/ledger.ts';
import type { Attempt } from '../../verifier/records/attempt.ts';
import { attemptPrefix, runRecordKey } from '../../verifier/records/keys.ts';
import { EXIT_CODE_OF, worstOf } from '../../verifier/records/outcome.ts';
import type { RunDocument, RunRecord, RunStream, StreamRecord, Unbound } from '../../verifier/records/record.ts';
import { recordPieces, toRecordBytes } from '../../verifier/records/record-bytes.ts';
import { type FinalizedRun, readFinalizedRun } from '../../verifier/records/stored-run.ts';
import { beginRun, keepAsked, questionOf, readBegun } from './asked.ts';
import { listAttempts } from './attempts.ts';
import { attestRun } from './attest.ts';
import { bindPieces, bindRecord } from './binding.ts';
import type { ExportContext, RunState } from './context.ts';
import { putAttemptReport, putReports } from './documents.ts';
import { measureLeftOver } from './leftovers.ts';
import { withFile } from './pieces.ts';
import { findEnded, findUnlisted, findVanished } from './plan.ts';
import { putBytes } from './put.ts';
import { reconcile } from './reconcile.ts';
import { requireBoundRun } from './records.ts';
import { type FrozenRun, freezeRun, readRunDraft, recordOf } from './run-draft.ts';
import type { RunResult, StoredRecord, StreamJobs } from './stream-jobs.ts';

/** Freezes the run and finalizes it, or leaves an attempt when something is missing. */
export async function concludeRun(context: ExportContext, run: RunState, jobs: StreamJobs): Promise<RunResult> {
  const earlier = await readEarlierRuns(context.archive, run.ledger);
  const record = toRunRecord(context, run, jobs, earlier, await context.archive.limitations());
  const open = jobs.incomplete.length + jobs.failed.length > 0 && !context.finalizePartial;
  const frozen = open ? await readRunDraft(context, context.runId) : null;
  // Another process has finished what is missing here.
  if (frozen !== null) return finalizeDraft(context, run.ledger, frozen, jobs.recorded);
  if (open) {
    const documents = await leaveAttempt(context, run, jobs, record);
    return { record: { ...record, documents }, state: 'open', unstamped: null };
  }
  // A run in which there was nothing to look at must not stand in the way of the one that will have something.
  if (record.streams.length + record.failed.length + record.vanished.length === 0)
    return { record, state: 'open', unstamped: null };
  record.left_over = await measureLeftOver(context.archive, record);
  return finalizeDraft(context, run.ledger, await freezeRun(context, record), jobs.recorded);
}

/** Finalizes a run that this or another process has frozen. @param known the records that need not be verified again. */
export async function finalizeDraft(
  context: ExportContext,
  ledger: LedgerEnd,
  frozen: FrozenRun,
  known: readonly StoredRecord[],
): Promise<RunResult> {
  const ours = new Map(known.map(({ key, sha256 }) => [key, sha256]));
  const isKnown = frozen.draft.streams.every(({ key, sha256 }) => ours.get(key) === sha256);
  if (isKnown) return finalizeRun(context, ledger, frozen, known);
  const { recordsOf } = await import('./resume.ts');
  return finalizeRun(context, ledger, frozen, await recordsOf(context, frozen.draft, known));
}

/**
 * Finalizes a run that is frozen. Of the files of the run its record goes last: a run without it is open, and what
 * `attestRun` puts beside it is added by the next export where it is missing.
 */
async function finalizeRun(
  context: ExportContext,
  ledger: LedgerEnd,
  frozen: FrozenRun,
  streams: readonly StoredRecord[],
): Promise<RunResult> {
  const record = recordOf(frozen, streams);
  const question = questionOf(context);
  const begun =
    (await readBegun(context, question)) ?? (await beginRun(context, new Date(record.begun_at), ledger.newest));
  record.documents = [await keepAsked(context, begun), frozen.document, ...(await putReports(context, record))];
  const { binding: _binding, ...unbound } = record;
  record.binding = bindPieces(context.bindingKey, recordPieces(unbound));
  let finalized: FinalizedRun;
  try {
    finalized = { record, sha256: (await putRecord(context, record)).sha256 };
  } catch (error) {
    const other = isEvidenceError(error, 'conflict') ? await readFinalizedRun(context.archive, record.run_id) : null;
    if (other === null) throw error;
    await requireBoundRun(context);
    return { record: other.record, state: 'already', unstamped: null };
  }
  const { entry, unstamped } = await attestRun(context, finalized, ledger);
  // Another process has finalized the same run, with the same record.
  if (entry === 'existing') return { record, state: 'already', unstamped };
  context.listen({ type: 'finalized', runId: record.run_id, outcome: record.outcome });
  return { record, state: 'finalized', unstamped };
}

function putRecord(context: ExportContext, record: RunRecord): Promise<PutResult & Expected> {
  return withFile(context, 'run.json', recordPieces(record), async (file, content) => {
    const stored = await context.archive.put(runRecordKey(record.run_id), { file }, content);
    return { ...stored, ...content };
  });
}

function toRunRecord(
  context: ExportContext,
  run: RunState,
  jobs: StreamJobs,
  earlier: EarlierRuns,
  limitations: readonly string[],
): RunRecord {
  const { selection, failed } = jobs;
  const done = new Set(jobs.recorded.map(({ record }) => record.stream_id));
  // What an earlier try of this run exported stays in it, even if this try would have left it out.
  const excluded = selection.excluded.filter(({ stream_id }) => !done.has(stream_id));
  const streams = [
    ...jobs.recorded.map(toRunStream),
    ...jobs.incomplete.map((record) => ({ ...withinRun(record), record: null })),
  ];
  const vanished = [
    ...findVanished(selection, context.scope, run.heads, run.past.spans).filter(
      ({ stream_id }) => !done.has(stream_id),
    ),
    ...findUnlisted(selection, context.runId, [...jobs.recorded.map(({ record }) => record), ...jobs.incomplete]),
  ];
  const ended = findEnded(selection, context.scope, run.restarts, run.heads).filter(
    ({ stream_id }) => !done.has(stream_id),
  );
  const finishedAt = context.now().toISOString();
  const attempts = listAttempts(run, streams, finishedAt);
  const outcome = worstOf([
    ...vanished.map(() => 'refuted' as const),
    ...streams.map((stream) => (stream.partial && stream.status !== 'refuted' ? 'incomplete' : stream.status)),
    ...failed.map(() => 'incomplete' as const),
  ]);
  return {
    format: FORMATS.run,
    run_id: context.runId,
    outcome,
    exit_code: EXIT_CODE_OF[outcome],
    scope: questionOf(context).scope,
    period: context.period,
    package_period: context.packagePeriod,
    source: {
      audit_url: context.auditUrl,
      contract: context.contract.name,
      contract_sha256: context.contractFile?.sha256 ?? null,
      time_fields: {
        recorded: context.contract.fields.timestamp,
        occurred: context.contract.fields.occurred_at ?? null,
      },
      moved_from: run.movedFrom,
      requests: context.client.operations(context.period, context.completeness === 'listing'),
    },
    tool: { ...context.tool, commit: context.commit },
    operator: context.operator,
    begun_at: run.begunAt.toISOString(),
    started_at: run.startedAt.toISOString(),
    finished_at: finishedAt,
    attempts,
    stream_list: selection.list,
    streams,
    excluded,
    failed,
    vanished,
    ended,
    acceptances: [...run.acceptances],
    reconciliation: reconcile(streams, vanished, { ...jobs, selection: { ...selection, excluded } }),
    warnings: [
      ...warningsOf(context, run, jobs),
      ...limitations,
      ...(earlier.warning === null ? [] : [earlier.warning]),
    ],
    signed: context.signingKey !== null,
    timestamp_authority: context.stamping?.authority.shown ?? null,
    report: context.report,
    earlier_runs: earlier.runs,
    recovered: jobs.recovered.length,
    left_over: [],
    documents: [],
    binding: null,
  };
}

function warningsOf(
  { period, packagePeriod, signingKey }: ExportContext,
  { ledger: { newest } }: RunState,
  { recovered }: StreamJobs,
): string[] {
  const selected = period.from === packagePeriod.from && period.to === packagePeriod.to;
  const begins = signingKey !== null && newest !== null && newest.entry.signature === undefined;
  return [
    ...(begins ? [`runs before entry ${newest.entry.number + 1} of the ledger were not signed`] : []),
    ...(selected ? [] : ['the service cannot select a period: every package holds all of its stream']),
    ...recovered
      .filter(({ unread }) => unread)
      .map(({ record }) => record.stream_id)
      .sort()
      .map(
        (streamId) =>
          `the encrypted bundle of the stream "${streamId}" was recovered: its claims are as the interrupted try wrote them down`,
      ),
  ];
}

function toRunStream({ record, ...stored }: StreamJobs['recorded'][number]): RunStream {
  return { ...withinRun(record), record: stored };
}

/** A stream's record without what the run or the attempt that names it says already. */
function withinRun({ format: _format, run_id: _run, recorded_at: _at, ...stream }: Unbound<StreamRecord>) {
  return stream;
}

async function leaveAttempt(
  context: ExportContext,
  run: RunState,
  jobs: StreamJobs,
  record: RunRecord,
): Promise<RunDocument[]> {
  const prefix = attemptPrefix(context.runId, run.startedAt);
  const attempt: Unbound<Attempt> = {
    format: FORMATS.attempt,
    run_id: context.runId,
    started_at: run.startedAt.toISOString(),
    ended_at: context.now().toISOString(),
    reconciliation: record.reconciliation,
    failed: jobs.failed,
    documents: [await putAttemptReport(context, record, prefix)],
    incomplete: jobs.incomplete.map(withinRun),
  };
  await putBytes(context.archive, `${prefix}attempt.json`, toRecordBytes(bindRecord(context.bindingKey, attempt)));
  return attempt.documents;
}
