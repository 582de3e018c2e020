import { EvidenceError } from '../../../core/errors.ts';
import { wait } from '../../../core/wait.ts';
import type { ExportContext } from '../../export/context.ts';
import { planRun } from '../../export/handed-out.ts';
import { type ExportResult, exportRun, withMissing } from '../../export/run.ts';
import { readKnownLedger } from '../../ledger/continuation.ts';
import type { QueueDatabase } from '../../queue/database.ts';
import { type RunProgress, readProgress } from '../../queue/progress.ts';
import type { CommandContext } from '../command.ts';
import type { Duration } from '../config/config-values.ts';
import type { OpenQueue } from '../config/queue.ts';
import { WatchedRun } from '../output/queue-progress.ts';

/** Polling interval while workers export a run. */
const LOOK_MS = 1000;

/**
 * Hands out a run to workers and waits for them. Interrupting it does not stop the workers; the same command resumes
 * waiting.
 */
export async function exportDistributed(
  exportContext: ExportContext,
  { queue, database }: OpenQueue,
  { deadline, traceParent }: { deadline: Duration | null; traceParent: string | null },
  context: CommandContext,
): Promise<ExportResult> {
  const { question, supersedes, finalizePartial, signing, service } = exportContext;
  const { run_id: runId } = question;
  const options = {
    supersedes: [...supersedes],
    finalize_partial: finalizePartial,
    begin_signing: signing.beginSigning === true,
    service_moved: service.isMoved,
    trace_parent: traceParent,
    deadline_at: deadline === null ? null : new Date(Date.now() + deadline.milliseconds).toISOString(),
  };
  const isHandedOut = await planRun(exportContext, async (plan) => {
    const isNew = await queue.handOut({ runId, options }, plan);
    context.printer.note(isNew ? `Run ${runId} is queued for workers.` : `Workers are already exporting run ${runId}.`);
  });
  if (!isHandedOut) return exportRun(exportContext);
  return conclusionOf(exportContext, await watchRun(database, runId, context));
}

/** Shows the progress of a run until it has ended. */
export async function watchRun(
  database: QueueDatabase,
  runId: string,
  { printer, signal }: CommandContext,
): Promise<RunProgress> {
  using watched = new WatchedRun(printer);
  for (;;) {
    const progress = await readProgress(database, runId);
    if (progress === null)
      throw new EvidenceError('not-found', `run ${runId} is no longer in the queue`, {
        nextStep: 'Archived bundles are kept. Run the same command again.',
      });
    watched.show(progress);
    if (progress.state === 'ended') return progress;
    await wait(LOOK_MS, signal);
  }
}

/** @throws EvidenceError if the run could not be concluded. */
async function conclusionOf(
  exportContext: ExportContext,
  { runId, conclusion, failure }: RunProgress,
): Promise<ExportResult> {
  if (conclusion === null)
    throw new EvidenceError(failure?.code ?? 'service', failure?.reason ?? `no worker could finish run ${runId}`, {
      nextStep: failure?.next_step ?? "Check the workers' output, then run the same command again.",
    });
  const { state, record, refused } = conclusion;
  if (record !== null) return { record, state, refused, unstamped: null, missing: [] };
  // The run is finalized by now, so `exportRun` can only add a missing time-stamp.
  const { missing: _none, ...result } = await exportRun(exportContext);
  const ledger = await readKnownLedger(exportContext.archive, exportContext.signing);
  return withMissing(exportContext, ledger, { ...result, state }, null);
}
