import { type Printer, styled } from '../../../core/terminal/printer.ts';
import type { RunProgress, StreamTrouble } from '../../queue/progress.ts';
import { type Cause, printCauses } from './causes.ts';
import { OUTCOME_STYLES } from './outcome-styles.ts';
import { describeProgress, workerLines } from './queue-progress.ts';

/** A distributed run, with the streams that did not end well. */
export interface RunStatus extends RunProgress {
  failures: readonly StreamTrouble[];
}

/** Prints how a distributed run stands. */
export function printStatus(progress: RunStatus, printer: Printer): void {
  const { state, failures, conclusion, failure } = progress;
  printer.result(styledSummary(progress));
  if (state !== 'ended') for (const line of workerLines(progress)) printer.result(line);
  const causes = failures.map(({ streamId, state: what, reason, nextStep }): Cause => {
    return { what: styled(what, what === 'failed' ? 'red' : 'yellow'), streamId, message: reason, nextStep };
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

/** Document of a distributed run for `--json`. */
export function toStatusDocument(progress: RunStatus) {
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
    failures: progress.failures.map(({ streamId, state, reason, nextStep }) => ({
      stream_id: streamId,
      state,
      reason,
      next_step: nextStep,
    })),
    outcome: conclusion?.outcome ?? null,
    exit_code: conclusion?.exit_code ?? null,
    failure,
  };
}
