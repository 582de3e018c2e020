import { type ErrorCode, EvidenceError } from '../../core/errors.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { readShare, SHARE_MARK } from '../records/hold-log.ts';
import { LEDGER_PREFIX, RUNS_PREFIX, runPrefix } from '../records/keys.ts';
import { verifyArchive } from './archive.ts';
import type { ArchiveContext } from './archive-reading.ts';
import type { ArchiveReport } from './archive-report.ts';
import { readObject } from './object-finding.ts';

/** An archive that is not verified as it was named. */
export class NotVerified extends EvidenceError {
  /** The run that it calls itself a part of; or what is missing. */
  readonly why: 'no_archive' | 'no_run' | { run_id: string };

  constructor(code: ErrorCode, message: string, why: NotVerified['why']) {
    super(code, message);
    this.why = why;
  }
}

/**
 * Verifies what the caller says is an archive, like `verifyArchive`.
 * @param archive null if nothing exists there. @param root name for people. @param run run to verify; null for all.
 * @throws EvidenceError `not-found` if there is no archive or no such run; `usage` for a shared part of an archive.
 */
export async function verifyNamedArchive(
  archive: ReadableArchive | null,
  root: string,
  run: string | null,
  options: Omit<ArchiveContext, 'archive'>,
): Promise<ArchiveReport> {
  if (archive === null || !((await holds(archive, RUNS_PREFIX)) || (await holds(archive, LEDGER_PREFIX))))
    throw new NotVerified('not-found', `${root} is not an archive: it holds neither runs nor a ledger`, 'no_archive');
  const { from = null } = options;
  if (run === null) await refuseShare(archive, root);
  if (from !== null && !(await holds(archive, runPrefix(from)))) throw noSuchRun(root, from);
  const report = await verifyArchive({ ...options, archive }, run);
  if (run !== null && report.runs.length + report.open_runs.length === 0) throw noSuchRun(root, run);
  return report;
}

/**
 * Refuses a shared part of an archive. It lacks the other runs, just like an archive from which someone removed them;
 * only the reader knows which of the two it is, and no file in it may decide.
 */
async function refuseShare(archive: ReadableArchive, root: string): Promise<void> {
  // A mark that is no record of a share says nothing, and is reported as an unexpected object.
  const { value: share } = await readObject(SHARE_MARK, async () =>
    (await archive.stat(SHARE_MARK)) === null ? null : readShare(archive, SHARE_MARK),
  );
  if (share === null) return;
  const { run_id } = share;
  throw new NotVerified('usage', `${root} is a shared part of run ${run_id}, by its own statement, not an archive`, {
    run_id,
  });
}

function noSuchRun(root: string, run: string): NotVerified {
  return new NotVerified('not-found', `the archive at ${root} has no run ${run}; nothing was verified`, 'no_run');
}

/** Reports whether an object or an unlistable folder exists under the prefix. */
async function holds(archive: ReadableArchive, prefix: string): Promise<boolean> {
  let isClosed = false;
  const onUnlisted = () => {
    isClosed = true;
  };
  for await (const _object of archive.list(prefix, onUnlisted)) return true;
  return isClosed;
}
