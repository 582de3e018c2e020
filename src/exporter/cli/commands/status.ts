import { EvidenceError } from '../../../core/errors.ts';
import { INCOMPLETE } from '../../../core/terminal/crash.ts';
import { exitCodeOf } from '../../../core/terminal/exit.ts';
import { type Printer, styled } from '../../../core/terminal/printer.ts';
import { listRuns, type RunProgress, readProgress, readTroubles, type StreamTrouble } from '../../queue/progress.ts';
import type { CommandContext } from '../command.ts';
import { loadConfig } from '../config/config.ts';
import { withQueue } from '../config/queue.ts';
import { type Cause, printCauses } from '../output/causes.ts';
import { describeProgress, workerLines } from '../output/queue-progress.ts';
import { OUTCOME_STYLES } from '../output/streams-table.ts';
import { watchRun } from './distributed.ts';
import type { FlagsOf } from './flags-of.ts';

/** Shows the progress of one distributed run, or of all. */
export async function runStatus(flags: FlagsOf<'status'>, context: CommandContext): Promise<number> {
  const { printer, environment, directory } = context;
  const { run: runId } = flags;
  if (flags.watch === true && runId === undefined)
    throw new EvidenceError('usage', '--watch needs a run', {
      nextStep: 'Name the run: evidence status RUN --watch. List the runs: evidence status.',
    });
  const config = await loadConfig(flags, environment, directory);
  return withQueue(config, context, async ({ database }) => {
    const ids = runId === undefined ? await listRuns(database) : [runId];
    const runs: RunStatus[] = [];
    for (const id of ids) {
      const progress = await readProgress(database, id);
      if (progress !== null) {
        const latest = flags.watch === true ? await watchRun(database, id, context) : progress;
        runs.push({ ...latest, failures: await readTroubles(database, id) });
      } else if (runId !== undefined) throw notHandedOut(runId);
    }
    printer.document('evidence-status/1', { runs: runs.map(toStatusDocument) });
    if (runs.length === 0) printer.result('There are no distributed runs.');
    for (const run of runs) printStatus(run, printer);
    const [run] = runs;
    return runId === undefined || run === undefined ? 0 : codeOf(run);
  });
}

function notHandedOut(runId: string): EvidenceError {
  return new EvidenceError('not-found', `run ${runId} is not a distributed run`, {
    nextStep: 'List distributed runs: evidence status. List runs in the archive: evidence runs.',
  });
}

/** Returns the exit code of the run; a run that has not ended is incomplete. */
function codeOf({ conclusion, failure, state }: RunProgress): number {
  if (state !== 'ended') return INCOMPLETE;
  return conclusion?.exit_code ?? exitCodeOf(failure?.code ?? 'service');
}

/** Distributed run with its troubled streams. */
interface RunStatus extends RunProgress {
  failures: readonly StreamTrouble[];
}

/** Prints the progress of a distributed run. */
function printStatus(progress: RunStatus, printer: Printer): void {
  const { state, failures, conclusion, failure } = progress;
  printer.result(styledSummary(progress));
  if (state !== 'ended') for (const line of workerLines(progress)) printer.result(line);
  const causes = failures.map(({ streamId, state: what, code, reason, nextStep }): Cause => {
    return { what: styled(what, what === 'failed' ? 'red' : 'yellow'), streamId, code, message: reason, nextStep };
  });
  printCauses(causes, printer);
  if (failure !== null) {
    printer.result([styled(state === 'ended' ? 'not concluded' : 'tried again', 'red'), ` ${failure.reason}`]);
    if (failure.next_step !== null) printer.result(`  ${failure.next_step}`);
  }
  if (conclusion !== null) {
    const { outcome, exit_code } = conclusion;
    printer.result(['Outcome ', styled(outcome, OUTCOME_STYLES[outcome]), ` (exit code ${exit_code})`]);
  }
}

function styledSummary(progress: RunProgress) {
  return [styled(describeProgress(progress), 'bold')];
}

/** Returns the `--json` document of a distributed run. */
function toStatusDocument(progress: RunStatus) {
  const { conclusion, failure } = progress;
  return {
    run_id: progress.runId,
    state: progress.state,
    started_at: progress.startedAt.toISOString(),
    ended_at: progress.endedAt?.toISOString() ?? null,
    streams: progress.streams,
    excluded: progress.excluded,
    recorded: progress.recorded,
    incomplete: progress.incomplete,
    failed: progress.failed,
    streams_per_second: progress.perSecond,
    seconds_left: progress.secondsLeft,
    workers: progress.workers.map(({ name, secondsSilent, streams, concludes }) => ({
      name,
      seconds_silent: secondsSilent,
      concludes,
      streams: streams.map(({ streamId, seconds, tries }) => ({ stream_id: streamId, seconds, tries })),
    })),
    failures: progress.failures.map(({ streamId, state, code, reason, nextStep }) => ({
      stream_id: streamId,
      state,
      code,
      reason,
      next_step: nextStep,
    })),
    outcome: conclusion?.outcome ?? null,
    exit_code: conclusion?.exit_code ?? null,
    failure,
  };
}
