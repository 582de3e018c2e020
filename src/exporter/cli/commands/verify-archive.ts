import { EvidenceError } from '../../../core/errors.ts';
import { plural } from '../../../core/plurals.ts';
import { shellWord } from '../../../core/shell.ts';
import { SHARE_MARK } from '../../../verifier/records/hold-log.ts';
import { splitRunAddress } from '../../../verifier/records/keys.ts';
import type { ArchiveContext } from '../../../verifier/verify/archive-reading.ts';
import type { ArchiveReport } from '../../../verifier/verify/archive-report.ts';
import type { NotVerified } from '../../../verifier/verify/named-archive.ts';
import type { RunCheck } from '../../../verifier/verify/run.ts';
import type { Archive } from '../../archive/archive.ts';
import type { CommandContext } from '../command.ts';
import type { NamedArchive } from '../config/stores/store.ts';
import { withArchiveIfAny } from '../config/stores.ts';
import { withWorkDirectory } from '../config/work-directory.ts';
import { LiveLines } from '../output/live-lines.ts';

/**
 * Verifies an archive, or one run of it: `root/runs/RUN`.
 * @param path of the archive or run. @param name as the user gave it.
 * @throws EvidenceError `not-found` if it does not exist; `usage` if the given identities open nothing.
 */
export async function verifyStored(
  path: string,
  name: string,
  { run, store, workDirectory, options }: ArchiveDeps,
  context: CommandContext,
): Promise<ArchiveReport> {
  const { root, runId } = splitRunAddress(path) ?? { root: path, runId: null };
  if (runId !== null && (run ?? options.from ?? null) !== null)
    throw new EvidenceError('usage', `${name} is one run, so --run and --from have no effect`, {
      nextStep: 'Name the archive instead.',
    });
  const report = await checkStored({ url: root, store }, run ?? runId, options, workDirectory, context);
  if (options.identities != null) refuseUseless(report, name);
  return report;
}

/** Dependencies for verifying archives. */
interface ArchiveDeps {
  /** Id of the only run to verify; null for all. */
  run: string | null;
  store: NamedArchive['store'];
  workDirectory: string;
  options: StoredOptions;
}

/** Options for archives, apart from location and listeners. */
type StoredOptions = Omit<ArchiveContext, 'archive' | 'workDirectory' | 'onStream' | 'onRun' | 'onRunEnd'>;

/** Verifies an archive, or one run of it. */
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
  const { NotVerified, verifyNamedArchive } = await import('../../../verifier/verify/named-archive.ts');
  const root = named.url;
  using progress = new VerifyProgress(context);
  const { onStream, onRun, onRunEnd } = progress;
  const given = { ...options, onStream, onRun, onRunEnd };
  const check = (archive: Archive | null) => verifyNamedArchive(archive, root, run, given);
  try {
    return await withArchiveIfAny(named, context, check);
  } catch (error) {
    if (!(error instanceof NotVerified)) throw error;
    const { code, message, why } = error;
    throw new EvidenceError(code, message, { nextStep: sayNamed(root, why) });
  }
}

function sayNamed(root: string, why: NotVerified['why']): string {
  if (why === 'no_archive')
    return 'Name an archive, a run in it, a bundle (.zip) or an evidence package (.json), as in: evidence verify evidence-archive.';
  if (why === 'no_run') return `List its runs: evidence runs --archive ${shellWord(root)}.`;
  return `If so, verify that run: evidence verify ${shellWord(root)} --run ${shellWord(why.run_id)}. If it is an archive, find out who put ${SHARE_MARK} there.`;
}

/**
 * Throws if the identities open none of the encrypted bundles, as for a single bundle. A refutation that was found
 * without them takes precedence.
 * @throws EvidenceError `usage`.
 */
function refuseUseless({ outcome, runs }: ArchiveReport, name: string): void {
  const encrypted = runs.flatMap(({ streams }) => streams).filter(({ bundle }) => bundle.encrypted !== undefined);
  if (outcome === 'refuted' || encrypted.length === 0 || !encrypted.every((stream) => stream.encrypted)) return;
  throw new EvidenceError(
    'usage',
    `none of the given identities can decrypt any of the ${plural(encrypted.length, 'encrypted bundle')} of ${name}`,
    {
      nextStep:
        'Give the identity file of a recipient: --identity FILE. Without one, their claims count only as recorded.',
    },
  );
}

/** Shows progress on stderr: a line for each of several runs, and on a terminal for each stream. */
export class VerifyProgress implements Pick<ArchiveContext, 'onStream' | 'onRun' | 'onRunEnd'> {
  readonly #context: CommandContext;
  readonly #live: LiveLines;
  /** Id of the run that is being verified. */
  #current: string | null = null;
  #streams = 0;

  constructor(context: CommandContext) {
    this.#context = context;
    this.#live = new LiveLines(context.printer);
  }

  readonly onStream = (streamId: string) => {
    this.#context.signal.throwIfAborted();
    this.#streams += 1;
    this.#live.show([`  ${this.#current}: stream ${this.#streams}: ${streamId}`]);
  };

  readonly onRun = (runId: string) => {
    this.#current = runId;
    this.#streams = 0;
  };

  readonly onRunEnd = ({ runId, outcome }: RunCheck, number: number, of: number) => {
    this.#live.takeBack();
    this.#current = null;
    if (of > 1) this.#context.printer.note(`Run ${runId} (${number} of ${of}): ${outcome}`);
  };

  /** Prints how to resume if the verification was interrupted. */
  [Symbol.dispose](): void {
    const { signal, printer } = this.#context;
    this.#live.takeBack();
    if (signal.aborted && this.#current !== null)
      printer.note(`To resume from this run later: --from ${this.#current}`);
  }
}
