import { EvidenceError } from '../../../core/errors.ts';
import type { Archive } from '../../../verifier/archive/archive.ts';
import { type FinalizedRun, readFinalizedRun } from '../../../verifier/records/stored-run.ts';
import { isBegun } from '../../export/run-id.ts';

/**
 * A run that a command is to do something with.
 * @param url of the archive, for errors.
 * @throws EvidenceError `not-found` when there is no such run, or it is not finalized.
 */
export async function requireRun(
  archive: Archive | null,
  runId: string,
  url: string,
): Promise<FinalizedRun & { archive: Archive }> {
  // A name with a slash is no name of a run, and might be one of something else.
  const isName = !/[\\/]|^\.|^$|\p{Cc}/u.test(runId);
  const finalized = archive !== null && isName ? await readFinalizedRun(archive, runId) : null;
  if (archive !== null && finalized !== null) return { ...finalized, archive };
  if (archive !== null && isName && (await isBegun(archive, runId)))
    throw new EvidenceError('not-found', `run ${runId} was begun, and is not finalized`, {
      nextStep: 'Run the same export command again: it goes on with what is missing.',
    });
  throw new EvidenceError('not-found', `the archive at ${url} has no finalized run ${runId}`, {
    nextStep: 'See which there are, with: evidence runs.',
  });
}
