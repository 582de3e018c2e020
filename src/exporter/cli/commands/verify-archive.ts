import { EvidenceError } from '../../../core/errors.ts';
import { shellWord } from '../../../core/shell.ts';
import { plural } from '../../../core/words.ts';
import type { Archive } from '../../../verifier/archive/archive.ts';
import { LEDGER_PREFIX, RUNS_PREFIX, runPrefix, splitRunAddress } from '../../../verifier/records/keys.ts';
import type { ArchiveContext } from '../../../verifier/verify/archive-reading.ts';
import type { ArchiveReport } from '../../../verifier/verify/archive-report.ts';
import type { CommandContext } from '../command.ts';
import { withArchiveIfAny } from '../config/archives.ts';
import type { NamedArchive } from '../config/stores/store.ts';
import { withWorkDirectory } from '../config/work-directory.ts';
import { VerifyProgress } from '../output/verify-progress.ts';
import { NAME_ONE } from './verify-target.ts';

/**
 * Verifies an archive, or one run of it: `root/runs/RUN`.
 * @param path of either. @param name as the user gave it.
 * @throws EvidenceError `not-found` where there is none; `usage` for identities that open nothing.
 */
export async function verifyStored(
  path: string,
  name: string,
  { run, store, workDirectory, options }: ArchiveMeans,
  context: CommandContext,
): Promise<ArchiveReport> {
  const { root, runId } = splitRunAddress(path) ?? { root: path, runId: null };
  if (runId !== null && (run ?? options.from ?? null) !== null)
    throw new EvidenceError('usage', `${name} is one run, so --run and --from mean nothing for it`, {
      nextStep: 'Name the archive instead.',
    });
  const report = await checkStored({ url: root, store }, run ?? runId, options, workDirectory, context);
  if (options.identities != null) refuseUseless(report, name);
  return report;
}

/** What archives are verified with. */
export interface ArchiveMeans {
  /** The one that alone is looked at; null for all. */
  run: string | null;
  store: NamedArchive['store'];
  workDirectory: string;
  options: StoredOptions;
}

/** What is verified of an archive, apart from where it lies and who listens. */
export type StoredOptions = Omit<ArchiveContext, 'archive' | 'workDirectory' | 'onStream' | 'onRun' | 'onRunEnd'>;

/** An archive, or one run of it. */
export async function checkStored(
  named: NamedArchive,
  run: string | null,
  options: StoredOptions,
  workDirectory: string,
  context: CommandContext,
): Promise<ArchiveReport> {
  return withWorkDirectory(workDirectory, (folder) =>
    checkOpened(named, run, { ...options, workDirectory: folder }, context),
  );
}

async function checkOpened(
  named: NamedArchive,
  run: string | null,
  options: StoredOptions & Pick<ArchiveContext, 'workDirectory'>,
  context: CommandContext,
): Promise<ArchiveReport> {
  const { verifyArchive } = await import('../../../verifier/verify/archive.ts');
  context.holdHeap(10);
  const root = named.url;
  const progress = new VerifyProgress(context);
  const check = async (archive: Archive | null) => {
    if (archive === null || !((await holds(archive, RUNS_PREFIX)) || (await holds(archive, LEDGER_PREFIX))))
      throw new EvidenceError('not-found', `${root} is not an archive: it holds neither runs nor a ledger`, {
        nextStep: NAME_ONE,
      });
    const { onStream, onRun, onRunEnd } = progress;
    const listeners = { onStream, onRun, onRunEnd };
    if (run === null) await refuseShare(archive, root);
    if (options.from !== null && options.from !== undefined && !(await holds(archive, runPrefix(options.from))))
      throw noSuchRun(root, options.from);
    const report = await verifyArchive({ ...options, ...listeners, archive }, run);
    if (run !== null && report.runs.length === 0 && report.warnings.length === 0) throw noSuchRun(root, run);
    return report;
  };
  return withArchiveIfAny(named, context, check).finally(() => progress.close());
}

/**
 * Identities that open none of the encrypted bundles are a mistake, as they are for a single one. What was refuted
 * without them is said first.
 * @throws EvidenceError `usage`.
 */
function refuseUseless({ outcome, runs }: ArchiveReport, name: string): void {
  const encrypted = runs.flatMap(({ streams }) => streams).filter(({ bundle }) => bundle.encrypted !== undefined);
  if (outcome === 'refuted' || encrypted.length === 0 || !encrypted.every((stream) => stream.encrypted)) return;
  throw new EvidenceError(
    'usage',
    `none of the identities that were given opens any of the ${plural(encrypted.length, 'encrypted bundle')} of ${name}`,
    {
      nextStep:
        'Give the file of an identity that they are for: --identity FILE. Without one, their claims are recorded.',
    },
  );
}

/**
 * What was shared of an archive lacks the other runs, as does an archive that somebody took them from. Which of the two
 * it is only the reader knows: no file in it may say so.
 */
async function refuseShare(archive: Archive, root: string): Promise<void> {
  const { readShare, SHARE_MARK } = await import('../../../verifier/records/share.ts');
  const { readObject } = await import('../../../verifier/verify/stored.ts');
  // What is no record of a share says nothing, and is found as an object that nobody expects.
  const share = await readObject(SHARE_MARK, [], async () =>
    (await archive.stat(SHARE_MARK)) === null ? null : readShare(archive, SHARE_MARK),
  );
  if (share === null) return;
  const { run_id } = share;
  throw new EvidenceError('usage', `${root} calls itself what was shared of run ${run_id}, not an archive`, {
    nextStep: `If it is, verify that run: evidence verify ${shellWord(root)} --run ${shellWord(run_id)}. If it is an archive, find out who put ${SHARE_MARK} there.`,
  });
}

function noSuchRun(root: string, run: string): EvidenceError {
  return new EvidenceError('not-found', `the archive at ${root} has no run ${run}; nothing was verified`, {
    nextStep: `See which there are, with: evidence runs --archive ${shellWord(root)}.`,
  });
}

/** Whether something is there, or a folder that cannot be looked into. */
async function holds(archive: Archive, prefix: string): Promise<boolean> {
  let isClosed = false;
  const onUnlisted = () => {
    isClosed = true;
  };
  for await (const _object of archive.list(prefix, onUnlisted)) return true;
  return isClosed;
}
