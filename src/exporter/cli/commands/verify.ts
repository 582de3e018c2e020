import { join, resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import { shellWord } from '../../../core/shell.ts';
import { liveLine } from '../../../core/terminal/table.ts';
import { plural } from '../../../core/words.ts';
import type { Archive } from '../../../verifier/archive/archive.ts';
import type { Identities } from '../../../verifier/encryption/identities.ts';
import { LEDGER_PREFIX, RUNS_PREFIX, runPrefix, splitRunAddress } from '../../../verifier/records/keys.ts';
import { EXIT_CODE_OF, worstOf } from '../../../verifier/records/outcome.ts';
import { reportAlone } from '../../../verifier/verify/alone.ts';
import type { ArchiveContext } from '../../../verifier/verify/archive.ts';
import type { ArchiveReport } from '../../../verifier/verify/archive-report.ts';
import type { VerifyOptions } from '../../../verifier/verify/content.ts';
import { type Problem, toProblem } from '../../../verifier/verify/problem.ts';
import { RangeThreads } from '../../../verifier/verify/range-threads.ts';
import type { RunCheck } from '../../../verifier/verify/run.ts';
import type { CommandContext } from '../command.ts';
import { withArchiveIfAny } from '../config/archives.ts';
import { loadNamedConfig } from '../config/config.ts';
import type { NamedArchive } from '../config/stores/store.ts';
import { storeOf } from '../config/stores.ts';
import { openIdentities, readPublicKeys, readSealKeys, readTimestampRoots } from '../config/trust.ts';
import { withWorkDirectory } from '../config/work-directory.ts';
import { holdHeap } from '../heap.ts';
import { readDays } from '../output/days.ts';
import { describeTrust } from '../output/trust-report.ts';
import { type FileReport, printArchive, printFile } from '../output/verify-report.ts';
import type { VerifyFlags } from './verify-flags.ts';
import { kindOf, NAME_ONE, refuseUnused } from './verify-target.ts';

const UNSIGNED =
  'Internal consistency only: a bundle by itself is not signed, so whoever can replace it can replace it unseen.';

/**
 * What each kind of target needs is loaded once the kind is known: a package needs no schema, no YAML and no zip, and
 * they would take longer than verifying a small one.
 */
const loadArchive = async () => inSmallHeap((await import('../../../verifier/verify/archive.ts')).verifyArchive);
const loadBundle = async () => inSmallHeap((await import('../../../verifier/verify/bundle.ts')).verifyBundle);
const loadPackage = async () => inSmallHeap((await import('../../../verifier/verify/package.ts')).verifyPackage);
const loadContract = async () => (await import('../config/contract.ts')).readContract;

/** The heap is held once the code is there: held while code is loaded, it is collected again and again. */
function inSmallHeap<Work>(work: Work): Work {
  holdHeap(10);
  return work;
}

export async function runVerify(flags: VerifyFlags, context: CommandContext): Promise<number> {
  const { directory, printer } = context;
  const { config: configFile, endpoint } = flags;
  const config = await loadNamedConfig(
    {
      ...flags,
      config: configFile,
      endpoint,
      require: flags.require,
      sealKey: flags['seal-key'],
      timestampRoots: flags['timestamp-roots'],
      publicKey: flags['public-key'],
      workDirectory: flags['work-directory'],
      acceptUnhashed: flags['accept-unhashed'],
    },
    context.environment,
    directory,
  );
  const options = {
    contract: flags.contract === undefined ? null : (await loadContract())(resolve(directory, flags.contract)),
    sealKeys: readSealKeys(config.sealKeyFiles),
    roots: readTimestampRoots(config.timestampRootsFile),
    required: config.required,
    acceptUnhashed: config.acceptUnhashed,
    now: new Date(),
  };
  const identityFiles = (flags.identity ?? []).map((path) => resolve(directory, path));
  const threads = checkThreads(flags.threads ?? null);
  const store = storeOf(flags.target);
  const target = store.locate(flags.target, directory);
  const kind = await kindOf(target, flags.target);
  refuseUnused(flags, kind);
  if (kind === 'archive') {
    const { root, runId: run } = splitRunAddress(target) ?? { root: target, runId: null };
    if (run !== null && (flags.run ?? flags.from) !== undefined)
      throw new EvidenceError('usage', `${flags.target} is one run, so --run and --from mean nothing for it`, {
        nextStep: 'Name the archive instead.',
      });
    const named = { archiveUrl: root, store: config.store };
    const given = {
      roots: options.roots,
      publicKeys: readPublicKeys(config.publicKeyFiles),
      stampRoots: readTimestampRoots(config.stampRootsFile),
    };
    const archiveOptions = {
      ...options,
      ...given,
      from: flags.from ?? null,
      fast: flags.fast === true,
      identities: await openIdentities(identityFiles),
      lockedUntil: readLockedUntil(flags, options.now),
      // Those of a store far away arrive while others are looked at.
      concurrency: store.isRemote ? CONCURRENCY : 1,
    };
    const report = await checkStored(named, flags.run ?? run, archiveOptions, config.workDirectory, context);
    if (archiveOptions.identities !== null) refuseUseless(report, flags.target);
    const { contracts, ...found } = report;
    const trust = describeTrust(config, given, contracts);
    printer.document({ trust, ...found });
    printArchive(report, trust, printer);
    return report.exit_code;
  }
  const reportOf = {
    bundle: () => verifyOneBundle(target, flags.target, options),
    encrypted: async () => {
      const identities = await openIdentities(identityFiles);
      return withWorkDirectory(config.workDirectory, (folder) =>
        verifyEncryptedBundle(target, { name: flags.target, folder }, options, identities),
      );
    },
    package: () => verifyOnePackage(target, threads, { ...options, signal: context.signal }),
  }[kind];
  const report = await reportOf();
  const { contracts, ...found } = report;
  const trust = describeTrust(config, { publicKeys: [], roots: options.roots, stampRoots: null }, contracts);
  printer.document({ trust, ...found });
  printFile(report, trust, printer);
  return report.exit_code;
}

function checkThreads(threads: number | null): number | null {
  if (threads === null || (Number.isInteger(threads) && threads >= 1 && threads <= 64)) return threads;
  throw new EvidenceError('usage', '--threads must be a whole number from 1 to 64');
}

const CONCURRENCY = 4;

function readLockedUntil(flags: VerifyFlags, now: Date): Date | null {
  const text = flags['locked-for'];
  return text === undefined ? null : new Date(now.getTime() + readDays('--locked-for', text));
}

/** What is verified of an archive, apart from where it lies and who listens. */
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
  const verifyArchive = await loadArchive();
  const root = named.archiveUrl;
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

/** Tells on stderr how it goes: run by run where there are several, and on a terminal stream by stream. */
class VerifyProgress implements Pick<ArchiveContext, 'onStream' | 'onRun' | 'onRunEnd'> {
  readonly #context: CommandContext;
  readonly #live: boolean;
  /** The run that is being looked at. */
  #current: string | null = null;
  #streams = 0;

  constructor(context: CommandContext) {
    this.#context = context;
    this.#live = process.stderr.isTTY === true && !context.printer.quiet;
  }

  readonly onStream = (streamId: string) => {
    this.#context.signal.throwIfAborted();
    this.#streams += 1;
    if (!this.#live) return;
    process.stderr.write(`\r\x1b[K${liveLine(`  ${this.#current}: stream ${this.#streams}: ${streamId}`)}`);
  };

  readonly onRun = (runId: string) => {
    this.#current = runId;
    this.#streams = 0;
  };

  readonly onRunEnd = ({ runId, outcome }: RunCheck, number: number, of: number) => {
    this.#clear();
    this.#current = null;
    if (of > 1) this.#context.printer.note(`Run ${runId} (${number} of ${of}): ${outcome}`);
  };

  /** Where to go on, if it was ended before it was done. */
  close(): void {
    const { signal, printer } = this.#context;
    this.#clear();
    if (signal.aborted && this.#current !== null)
      printer.note(`To go on with this run later, and not begin anew: --from ${this.#current}`);
  }

  #clear(): void {
    if (this.#live) process.stderr.write('\r\x1b[K');
  }
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

async function verifyOneBundle(file: string, name: string, options: VerifyOptions): Promise<FileReport> {
  const verifyBundle = await loadBundle();
  const verified = await verifyBundle(file, name, options);
  const { recorded, problems, identity } = verified;
  const verdict = reportAlone(verified);
  if (verdict === null && problems.length === 0)
    problems.push(toProblem('object/unreadable', name, 'holds no verdict and nothing to judge'));
  const statuses = [...(verdict === null ? [] : [verdict.status]), ...(recorded === null ? [] : [recorded.status])];
  const outcome = problems.length > 0 ? 'refuted' : worstOf(statuses);
  return {
    outcome,
    exit_code: EXIT_CODE_OF[outcome],
    run_id: verified.runId,
    period: verified.period,
    streams: verdict === null ? [] : [{ ...verdict, status: outcome, bundle: { key: name, identity } }],
    problems,
    warnings: [UNSIGNED],
    contracts: verified.contract === null ? [] : [verified.contract],
  };
}

/** What cannot be read at all. */
function reportDamage(problems: Problem[]): FileReport {
  return {
    outcome: 'refuted',
    exit_code: EXIT_CODE_OF.refuted,
    run_id: null,
    period: null,
    streams: [],
    problems,
    warnings: [],
    contracts: [],
  };
}

/** @throws EvidenceError `usage` where it cannot be decrypted with what was given. */
async function verifyEncryptedBundle(
  file: string,
  { name, folder }: { name: string; folder: string },
  options: VerifyOptions,
  identities: Identities | null,
): Promise<FileReport> {
  const { decryptFile } = await import('../../../verifier/encryption/age.ts');
  const { readObject } = await import('../../../verifier/verify/stored.ts');
  const zip = join(folder, 'decrypted.zip');
  const damage: Problem[] = [];
  const read = async () => ({ content: identities === null ? null : await decryptFile(file, zip, identities) });
  const decrypted = await readObject(name, damage, read);
  if (decrypted === null) return reportDamage(damage);
  const { content } = decrypted;
  if (content !== null) return verifyOneBundle(zip, name, options);
  const why = identities === null ? 'is encrypted' : 'is not encrypted to any of the identities that were given';
  throw new EvidenceError('usage', `${name} ${why}, so there is nothing that could be verified`, {
    nextStep: 'Give the file of an identity that it is for: --identity FILE.',
  });
}

async function verifyOnePackage(
  file: string,
  asked: number | null,
  options: VerifyOptions & { signal: AbortSignal },
): Promise<FileReport> {
  await using threads = RangeThreads.for(file, asked);
  const verifyPackage = await loadPackage();
  const { verdicts, contract } = await verifyPackage(file, { ...options, threads });
  const outcome = worstOf(verdicts.map((verdict) => verdict.status));
  return {
    outcome,
    exit_code: EXIT_CODE_OF[outcome],
    run_id: null,
    period: null,
    streams: verdicts.map((verdict) => ({ ...verdict, bundle: null })),
    problems: [],
    warnings: [],
    contracts: [contract],
  };
}
