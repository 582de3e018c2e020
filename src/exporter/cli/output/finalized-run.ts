import { EvidenceError } from '../../../core/errors.ts';
import { type FinalizedRun, readFinalizedRun } from '../../../verifier/records/stored-run.ts';
import type { Archive } from '../../archive/archive.ts';
import { isBegun } from '../../export/run-id.ts';

/**
 * Reads the finalized run that a command works on.
 * @throws EvidenceError `not-found` if there is no such run, or it is not finalized.
 */
export async function requireRun(archive: Archive, runId: string): Promise<FinalizedRun> {
  // A name with a slash is no run id, and might refer to another object.
  const isName = !/[\\/]|^\.|^$|\p{Cc}/u.test(runId);
  const finalized = isName ? await readFinalizedRun(archive, runId) : null;
  if (finalized !== null) return finalized;
  if (isName && (await isBegun(archive, runId)))
    throw new EvidenceError('not-found', `run ${runId} was started but is not finalized`, {
      nextStep: 'Run the same export command again to resume it.',
    });
  throw new EvidenceError('not-found', `the archive at ${archive.url} has no finalized run ${runId}`, {
    nextStep: 'List the runs with: evidence runs.',
  });
}
