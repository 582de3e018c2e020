import { EvidenceError } from '../../core/errors.ts';
import { inParallel } from '../../core/parallel.ts';
import { findEntry, readNewestEntry, runOf } from '../../verifier/ledger/ledger.ts';
import { coverageOf, coverMonths } from '../../verifier/records/coverage.ts';
import { runEnvelopeKey, runRecordKey } from '../../verifier/records/keys.ts';
import { type MonthReport, toMonthReport } from '../../verifier/records/month-report.ts';
import { type FinalizedRun, readFinalizedRun } from '../../verifier/records/stored-run.ts';
import { type ClockReading, earlierClock } from '../clocks.ts';
import { type KnownLedger, readKnownLedger } from '../ledger/continuation.ts';
import { requireTrusted } from '../ledger/trust.ts';
import { verifyCommand } from '../ledger/verify-command.ts';
import { hiddenIn } from './account.ts';
import { beginningOf, beginRun, boundToBeginning, checkSameService, requireSame } from './asked.ts';
import { attestRun, stampFinalized } from './attest.ts';
import type { ExportContext } from './context.ts';
import { concludeRun, finalizeDraft } from './finalize.ts';
import { listRun } from './leftovers.ts';
import { closePacking, type FoundRun, findRun, listInScope, toState } from './open-run.ts';
import { refuseUnended } from './period.ts';
import type { ListedStream, StreamSelection } from './plan.ts';
import { requireBoundRun } from './records.ts';
import type { FrozenRun } from './run-draft.ts';
import { ServiceReach } from './service-reach.ts';
import { exportStream } from './stream.ts';
import { type RunResult, StreamOutcomes } from './stream-jobs.ts';
import { recoverSupplements, storedSupplementsKey } from './supplement-store.ts';
import { openSupplements } from './supplements.ts';

export interface ExportResult extends RunResult {
  /**
   * Months that have ended by both clocks and that no run covers completely, from the first exported month on; oldest
   * first.
   */
  missing: MonthReport[];
}

/**
 * Runs the batch job: exports every stream in scope from the service to the archive, then finalizes the run. Objects
 * that an interrupted attempt left are verified again and reused, so the same call resumes a run interrupted at any
 * point. Foreign objects in the run's folder end the export.
 */
export async function exportRun(context: ExportContext): Promise<ExportResult> {
  const { archive, question } = context;
  // Listed first: streams that another process stores from here on are found through their records or the draft below.
  const objects = await listRun(archive, question.run_id);
  const finalized = await readFinalizedRun(archive, question.run_id);
  if (finalized !== null) return { ...(await concludeFinalized(context, finalized)), missing: [] };
  const found = await findRun(context, objects);
  const { frozen, ledger } = found;
  const { result, clock } =
    frozen === null ? await exportOpen(context, found) : await finalizeFrozen(context, found, frozen);
  return withMissing(context, ledger, result, clock);
}

async function exportOpen(
  context: ExportContext,
  found: FoundRun,
): Promise<{ result: RunResult; clock: ClockReading | null }> {
  using notes = new DisposableStack();
  const { bound, run, jobs, clock } = await receiveStreams(context, found, notes);
  sayConcluding(context);
  return { result: await concludeRun(bound, run, jobs), clock };
}

async function finalizeFrozen(
  context: ExportContext,
  { ledger }: FoundRun,
  frozen: FrozenRun,
): Promise<{ result: RunResult; clock: null }> {
  sayConcluding(context);
  return { result: await finalizeDraft(context, ledger, frozen, []), clock: null };
}

function sayConcluding({ runtime, question }: ExportContext): void {
  runtime.listen({ type: 'concluding', runId: question.run_id });
}

/** Receives every stream in scope. @param notes receives the resources that the run needs until it is concluded. */
async function receiveStreams(context: ExportContext, found: FoundRun, notes: DisposableStack) {
  const { runtime, handedOut } = context;
  const at = runtime.now();
  const { selection, clock } = await listInScope(context);
  refuseUnended(context.question.period, clock);
  const beginningAt = { at, byService: clock?.theirs ?? null };
  const outcomes = new StreamOutcomes();
  const finished = await resume(context, found, selection, at, outcomes);
  const open = selection.included.filter(({ streamId }) => !finished.has(streamId));
  runtime.listen({
    type: 'planned',
    runId: context.question.run_id,
    streams: open.length,
    done: outcomes.recorded,
    excluded: selection.excluded.length,
    entryCounts: open.map(({ entryCount }) => entryCount),
  });
  const first = found.begun ?? (open.length > 0 ? await beginRun(context, beginningAt, found.ledger.newest) : null);
  const bound = first === null ? context : await boundToBeginning(context, first);
  const beginning = first === null ? beginningAt : beginningOf(first.asked);
  const start = { at: handedOut?.startedAt ?? at, clock };
  const run = await toState(bound, found, { beginning, start }, open);
  const stored = storedSupplementsKey(context.question.run_id, found.objects);
  if (stored !== undefined) run.storedSupplements = await recoverSupplements(context, stored);
  else run.supplements = await openSupplements(bound, selection);
  notes.use(run.supplements?.notes);
  try {
    const reach = new ServiceReach(context);
    const exportOne = async (stream: ListedStream) => {
      const elsewhere = (await handedOut?.outcomeOf(stream)) ?? null;
      outcomes.add(elsewhere ?? (await reach.exportWithin(stream, () => exportStream(bound, run, stream))));
    };
    await inParallel(open, runtime.concurrency, exportOne);
    const hidden = await hiddenIn(context, run, { selection, open, finished });
    await inParallel(hidden, runtime.concurrency, exportOne);
  } finally {
    await closePacking(run, selection.included.length);
  }
  return { bound, run, jobs: outcomes.finish(selection), clock };
}

async function resume(
  context: ExportContext,
  { objects }: FoundRun,
  selection: StreamSelection,
  begunAt: Date,
  outcomes: StreamOutcomes,
): Promise<Set<string>> {
  if (objects.length === 0) return new Set();
  return (await import('./resume.ts')).resumeStreams(context, objects, selection, begunAt, outcomes);
}

/** Adds the months that no run covers completely, counting the run that was just finalized. */
export function withMissing(
  { runtime }: ExportContext,
  { past }: KnownLedger,
  result: RunResult,
  clock: ClockReading | null,
): ExportResult {
  if (result.state !== 'finalized') return { ...result, missing: [] };
  const { record } = result;
  const runs = [...past.coverage, { ...coverageOf(record), run_id: record.run_id }];
  const months = coverMonths(runs, earlierClock(clock, runtime.now()));
  return { ...result, missing: months.filter(({ state }) => state !== 'whole').map(toMonthReport) };
}

/** Concludes a finalized run. It is never changed; only what an interrupted `attestRun` left out is added. */
async function concludeFinalized(context: ExportContext, finalized: FinalizedRun): Promise<RunResult> {
  const { record } = finalized;
  const { archive, question, signing } = context;
  const newest = await readNewestEntry(archive);
  await checkSameService(context, question, newest, { isFinalized: true });
  requireSame(record, question, 'finalized');
  const entry = await findEntry(archive, record.run_id, newest);
  if (entry !== null && runOf(entry.entry)?.sha256 !== finalized.sha256)
    throw new EvidenceError('unreadable', `${runRecordKey(record.run_id)} is not the record that ${entry.key} names`, {
      nextStep: `Nothing was added to the run. Check the archive: ${verifyCommand(archive)}.`,
    });
  const isSigned = !record.signed || (await archive.stat(runEnvelopeKey(record.run_id))) !== null;
  if (entry !== null && isSigned) {
    // A signer relies only on a signed ledger. Without a key, the finalized run can still be reported.
    if (signing.signingKey !== null) requireTrusted(archive, newest, signing);
    return { record, state: 'already', unstamped: await stampFinalized(context, finalized) };
  }
  const ledger = await readKnownLedger(archive, signing);
  await requireBoundRun(context);
  const { unstamped } = await attestRun(context, finalized, ledger);
  return { record, state: 'already', unstamped };
}
