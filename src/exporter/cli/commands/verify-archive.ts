import { EvidenceError } from '../../../core/errors.ts';
import { plural } from '../../../core/plurals.ts';
import { splitRunAddress } from '../../../verifier/records/keys.ts';
import type { ArchiveContext } from '../../../verifier/verify/archive-reading.ts';
import type { ArchiveReport } from '../../../verifier/verify/archive-report.ts';
import type { RunCheck } from '../../../verifier/verify/run.ts';
import type { Archive } from '../../archive/archive.ts';
import type { CommandContext } from '../command.ts';
import type { NamedArchive } from '../config/stores/store.ts';
import { withArchiveIfAny } from '../config/stores.ts';
import { withWorkDirectory } from '../config/work-directory.ts';
import { LiveLines } from '../output/live-lines.ts';

/**
 * Verifies an archive, or one run of it: `root/runs/RUN`.
 * @param path of either. @param name as the user gave it.
 * @throws EvidenceError `not-found` where there is none; `usage` for identities that open nothing.
 */
export async function verifyStored(
  path: string,
  name: string,
  { run, store, workDirectory, options }: ArchiveDeps,
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

/** The means with which archives are verified. */
interface ArchiveDeps {
  /** The one that alone is looked at; null for all. */
  run: string | null;
  store: NamedArchive['store'];
  workDirectory: string;
  options: StoredOptions;
}

/** The options for an archive, apart from where it lies and who listens. */
type StoredOptions = Omit<ArchiveContext, 'archive' | 'workDirectory' | 'onStream' | 'onRun' | 'onRunEnd'>;

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
  const { verifyNamedArchive } = await import('../../../verifier/verify/named-archive.ts');
  const root = named.url;
  const progress = new VerifyProgress(context);
  const { onStream, onRun, onRunEnd } = progress;
  const given = { ...options, onStream, onRun, onRunEnd };
  const check = (archive: Archive | null) => verifyNamedArchive(archive, root, run, given);
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

/** Tells on stderr how it goes: run by run where there are several, and on a terminal stream by stream. */
export class VerifyProgress implements Pick<ArchiveContext, 'onStream' | 'onRun' | 'onRunEnd'> {
  readonly #context: CommandContext;
  readonly #live: LiveLines;
  /** The run that is being looked at. */
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

  /** Says where to go on, if it was ended before it was done. */
  close(): void {
    const { signal, printer } = this.#context;
    this.#live.takeBack();
    if (signal.aborted && this.#current !== null)
      printer.note(`To go on with this run later, and not begin anew: --from ${this.#current}`);
  }
}
