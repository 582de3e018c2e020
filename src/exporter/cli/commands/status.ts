import { EvidenceError } from '../../../core/errors.ts';
import { INCOMPLETE } from '../../../core/terminal/crash.ts';
import { exitCodeOf } from '../../../core/terminal/exit.ts';
import { listRuns, type RunProgress, readProgress, readTroubles } from '../../queue/progress.ts';
import type { CommandContext } from '../command.ts';
import { loadConfig } from '../config/config.ts';
import { withQueue } from '../config/queue.ts';
import { printStatus, type RunStatus, toStatusDocument } from '../output/run-status.ts';
import { watchRun } from './distributed.ts';
import type { StatusFlags } from './status-flags.ts';

/** Shows the progress of one distributed run, or of all. */
export async function runStatus(flags: StatusFlags, context: CommandContext): Promise<number> {
  const { printer, environment, directory } = context;
  const { run: runId } = flags;
  if (flags.watch === true && runId === undefined)
    throw new EvidenceError('usage', '--watch is given without a run', {
      nextStep: 'Name the run: evidence status RUN --watch. See which there are, with: evidence status.',
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
    if (runs.length === 0) printer.result('No run was handed out to workers.');
    for (const run of runs) printStatus(run, printer);
    const [run] = runs;
    return runId === undefined || run === undefined ? 0 : codeOf(run);
  });
}

function notHandedOut(runId: string): EvidenceError {
  return new EvidenceError('not-found', `run ${runId} was not handed out to workers`, {
    nextStep: 'See which were, with: evidence status. Runs in the archive are shown by: evidence runs.',
  });
}

/** The exit code of the run; as long as it has not ended, it is incomplete. */
function codeOf({ conclusion, failure, state }: RunProgress): number {
  if (state !== 'ended') return INCOMPLETE;
  return conclusion?.exit_code ?? exitCodeOf(failure?.code ?? 'service');
}
