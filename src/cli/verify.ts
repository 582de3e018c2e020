import { open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Archive } from '../archive/archive.ts';
import type { Verdict } from '../claims/verdict.ts';
import { EvidenceError } from '../errors.ts';
import { EXIT_CODE_OF, worstOf } from '../ledger/outcome.ts';
import { plural } from '../report/view/words.ts';
import type { ArchiveOptions, ArchiveReport } from '../verify/archive.ts';
import type { VerifyOptions } from '../verify/bundle.ts';
import { type Problem, toProblem } from '../verify/problem.ts';
import type { CommandContext } from './command.ts';
import { loadConfig } from './config.ts';
import type { VerifyFlags } from './flags.ts';
import type { Printer } from './printer.ts';
import { isDirectory, isS3Url, type NamedArchive, openArchive } from './store.ts';
import { emphasise, formatClaims, formatLegend, visible } from './table.ts';
import { readPublicKeys, readSealKeys, readStampRoots, readTimestampRoots } from './trust.ts';
import { makeWorkDirectory } from './work-directory.ts';

const STYLES = { verified: 'green', refuted: 'red', incomplete: 'yellow', empty: 'yellow' } as const;
const SHOWN = 50;
const NAME_ONE = 'Name an archive, a run in it, a bundle (.zip) or an evidence package (.json).';
const UNSIGNED =
  'Internal consistency only: a bundle by itself is not signed, so whoever can replace it can replace it unseen.';

/**
 * What each kind of target needs is loaded once the kind is known: a package needs no schema, no YAML and no zip, and
 * they would take longer than verifying a small one.
 */
const loadArchive = async () => (await import('../verify/archive.ts')).verifyArchive;
const loadBundle = async () => (await import('../verify/bundle.ts')).verifyBundle;
const loadPackage = async () => (await import('../verify/package.ts')).verifyPackage;
const loadContract = async () => (await import('./contract.ts')).readContract;

export async function runVerify(flags: VerifyFlags, context: CommandContext): Promise<number> {
  const { directory, printer } = context;
  const { config: configFile, endpoint } = flags;
  const config = await loadConfig(
    {
      config: configFile,
      endpoint,
      sealKey: flags['seal-key'],
      timestampRoots: flags['timestamp-roots'],
      publicKey: flags['public-key'],
    },
    context.environment,
    directory,
  );
  const options = {
    contract: flags.contract === undefined ? null : (await loadContract())(resolve(directory, flags.contract)),
    sealKeys: readSealKeys(config.sealKeyFiles),
    roots: readTimestampRoots(config.timestampRootsFile),
    now: new Date(),
  };
  const threads = checkThreads(flags.threads ?? null);
  const target = isS3Url(flags.target) ? flags.target.replace(/\/+$/, '') : resolve(directory, flags.target);
  if (isS3Url(target) || (await isDirectory(target))) {
    const [, root = target, run = null] = /^(.*)\/runs\/([^/]+)$/s.exec(target) ?? [];
    const named = { archiveUrl: root, store: config.store };
    const trust = { publicKeys: readPublicKeys(config.publicKeyFiles), stampRoots: readStampRoots(config) };
    const report = await checkStored(named, flags.run ?? run, { ...options, ...trust }, context);
    printer.document(report);
    printArchive(report, printer);
    return report.exit_code;
  }
  if (!(await isFile(target)))
    throw new EvidenceError('not-found', `there is nothing to verify at ${flags.target}`, {
      nextStep: NAME_ONE,
    });
  const report = (await isZip(target))
    ? await verifyOneBundle(target, flags.target, options)
    : await verifyOnePackage(target, { ...options, threads, signal: context.signal });
  printer.document(report);
  printStreams(report.streams, printer);
  printProblems(report.problems, printer);
  printOutcome(report, printer);
  return report.exit_code;
}

function checkThreads(threads: number | null): number | null {
  if (threads === null || (Number.isInteger(threads) && threads >= 1 && threads <= 64)) return threads;
  throw new EvidenceError('usage', '--threads must be a whole number from 1 to 64');
}

/** An archive, or one run of it. */
export async function checkStored(
  named: NamedArchive,
  run: string | null,
  options: ArchiveOptions,
  context: CommandContext,
): Promise<ArchiveReport> {
  const verifyArchive = await loadArchive();
  const root = named.archiveUrl;
  const archive = await openArchive(named, context, false);
  const work = makeWorkDirectory();
  try {
    if (archive === null || !(await holdsRuns(archive)))
      throw new EvidenceError('not-found', `${root} is not an archive: it holds neither runs nor a ledger`, {
        nextStep: NAME_ONE,
      });
    const onStream = () => context.signal.throwIfAborted();
    const report = await verifyArchive({ ...options, archive, workDirectory: work.path, onStream }, run);
    if (run !== null && report.runs.length === 0 && report.warnings.length === 0)
      throw new EvidenceError('not-found', `the archive at ${root} has no run ${run}`);
    return report;
  } finally {
    work.remove();
    await archive?.close();
  }
}

async function holdsRuns(archive: Archive): Promise<boolean> {
  for (const prefix of ['runs/', 'ledger/']) for await (const _object of archive.list(prefix)) return true;
  return false;
}

interface FileReport {
  outcome: Verdict['status'];
  exit_code: number;
  run_id: string | null;
  period: { from: string | null; to: string | null } | null;
  streams: (Verdict & { bundle: { key: string; identity: string | null } | null })[];
  problems: Problem[];
  warnings: string[];
}

async function verifyOneBundle(file: string, name: string, options: VerifyOptions): Promise<FileReport> {
  const verifyBundle = await loadBundle();
  const verified = await verifyBundle(file, name, options);
  const { verdict, recorded, problems, identity } = verified;
  if (verdict === null && problems.length === 0)
    problems.push(toProblem('object/unreadable', name, 'holds no verdict and nothing to judge'));
  const statuses = [...(verdict === null ? [] : [verdict.status]), ...(recorded === null ? [] : [recorded.status])];
  const outcome = problems.length > 0 ? 'refuted' : worstOf(statuses);
  return {
    outcome,
    exit_code: EXIT_CODE_OF[outcome],
    run_id: verified.runId,
    period: verified.period,
    streams: verdict === null ? [] : [{ ...verdict, bundle: { key: name, identity } }],
    problems,
    warnings: [UNSIGNED],
  };
}

async function verifyOnePackage(
  file: string,
  options: VerifyOptions & { threads: number | null; signal: AbortSignal },
): Promise<FileReport> {
  const verifyPackage = await loadPackage();
  const verdicts = await verifyPackage(file, options, ['order']);
  const outcome = worstOf(verdicts.map((verdict) => verdict.status));
  return {
    outcome,
    exit_code: EXIT_CODE_OF[outcome],
    run_id: null,
    period: null,
    streams: verdicts.map((verdict) => ({ ...verdict, bundle: null })),
    problems: [],
    warnings: [],
  };
}

export function printArchive(report: ArchiveReport, printer: Printer): void {
  for (const run of report.runs) {
    printer.result(emphasise(`Run ${run.run_id}`, 'bold'));
    printStreams(run.streams, printer);
    printStamps(run.stamps, printer);
  }
  const { missing, altered, unexpected, checked } = report.objects;
  const stamps = report.runs.flatMap(({ problems }) => problems.filter(({ code }) => code === 'stamp/refuted'));
  const listed = [
    ...report.ledger.findings,
    ...report.signatures.findings,
    ...stamps,
    ...missing,
    ...altered,
    ...unexpected,
  ];
  printProblems([...new Set(listed)], printer);
  for (const warning of report.warnings) printer.result(emphasise(warning, 'yellow'));
  printer.result(
    `Objects       ${checked} checked: ${objectsIn(missing)} missing, ${objectsIn(altered)} altered, ${objectsIn(unexpected)} unexpected`,
  );
  printer.result(`Ledger        ${plural(report.ledger.entries, 'entry')}, ${report.ledger.state}`);
  printer.result(`Signatures    ${describeSignatures(report.signatures)}`);
  printOutcome({ ...report, warnings: [] }, printer);
}

function describeSignatures({ state, reason, keys, from }: ArchiveReport['signatures']): string {
  if (state === 'unproved') return `internal consistency only: ${reason}`;
  if (state === 'refuted') return emphasise('refuted, see above', 'red');
  const extent = from === 1 ? 'all of the ledger' : `the ledger from entry ${from} on, which names all before it`;
  return `${emphasise('proved', 'green')}: ${extent}, by ${keys.join(', ')}`;
}

function printStamps(stamps: ArchiveReport['runs'][number]['stamps'], printer: Printer): void {
  for (const { key, state, time, authority, until, remarks } of stamps) {
    const what =
      state === 'proved'
        ? `it was there at ${time?.toISOString()}, says ${visible(authority ?? '')}; holds until ${until?.toISOString()}`
        : `${state}: ${visible(remarks.join('; '))}`;
    printer.result(`${key}  ${what}`);
  }
}

/** Several things can be wrong with one object. */
function objectsIn(problems: readonly Problem[]): number {
  return new Set(problems.map(({ key }) => key.split(':')[0])).size;
}

function printStreams(streams: FileReport['streams'], printer: Printer): void {
  if (streams.length === 0) return;
  printer.result(`${formatClaims(streams)}\n\n${formatLegend(streams)}\n`);
  const findings = streams.flatMap((stream) => stream.findings);
  for (const finding of findings.slice(0, SHOWN))
    printer.result(
      `${emphasise(finding.code, finding.severity === 'error' ? 'red' : 'yellow')} ${visible(finding.stream_id)}: ${visible(finding.message)}\n  ${finding.next_step}`,
    );
  if (findings.length > SHOWN) printer.result(`… and ${findings.length - SHOWN} more findings; --json has them.`);
}

function printProblems(problems: readonly Problem[], printer: Printer): void {
  for (const { code, key, message, expected, actual } of problems.slice(0, SHOWN)) {
    printer.result(`${emphasise(code, 'red')} ${visible(key)}: ${visible(message)}`);
    if (expected !== undefined || actual !== undefined)
      printer.result(`  expected ${expected ?? 'nothing'}\n  found    ${actual ?? 'nothing'}`);
  }
  if (problems.length > SHOWN) printer.result(`… and ${problems.length - SHOWN} more; --json has them.`);
}

function printOutcome(
  { outcome, exit_code, warnings }: { outcome: keyof typeof STYLES; exit_code: number; warnings: string[] },
  printer: Printer,
): void {
  printer.result(`Outcome       ${emphasise(outcome, STYLES[outcome])} (exit code ${exit_code})`);
  for (const warning of warnings) printer.result(warning);
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** By its content where there is any that tells, else by its name: a damaged bundle is still meant as one. */
async function isZip(path: string): Promise<boolean> {
  if (path.toLowerCase().endsWith('.zip')) return true;
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.toString('latin1') === 'PK';
  } finally {
    await file.close();
  }
}
