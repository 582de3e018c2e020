import { resolve } from 'node:path';
import { EvidenceError, isEvidenceError } from '../../../core/errors.ts';
import { plural } from '../../../core/plurals.ts';
import { shellWord } from '../../../core/shell.ts';
import { exitCodeOf } from '../../../core/terminal/exit.ts';
import type { VerifyOptions } from '../../../verifier/verify/content.ts';
import type { CommandContext } from '../command.ts';
import { type Config, loadNamedConfig } from '../config/config.ts';
import { DEFAULT_ARCHIVE } from '../config/sections.ts';
import { storeOf } from '../config/stores.ts';
import { openIdentities, readPublicKeys, readSealKeys, readTimestampRoots } from '../config/trust.ts';
import { readDays } from '../output/days.ts';
import { describeTrust, type GivenTrust, printTrust } from '../output/trust-report.ts';
import { printArchive, printError, printFile, printTarget, type VerifiedTarget } from '../output/verify-report.ts';
import type { FlagsOf } from './flags-of.ts';
import { type FileDeps, verifyFile } from './verify-file.ts';
import { kindOf, NAME_ONE, refuseUnused } from './verify-target.ts';

/** Verifies each target and prints the results. */
export async function verifyTargets(
  flags: FlagsOf<'verify'>,
  context: CommandContext,
  threadsFor: FileDeps['threadsFor'],
): Promise<number> {
  const { directory, printer, environment } = context;
  const config = await loadNamedConfig(toConfigFlags(flags), environment, directory);
  const contract = flags.contract === undefined ? null : await loadContract(resolve(directory, flags.contract));
  const options = {
    contract,
    referenceAlone: flags.reference === true,
    sealKeys: readSealKeys(config.verify.sealKeyFiles),
    roots: readTimestampRoots(config.verify.timestampRootsFile),
    required: config.verify.required,
    without: flags.without ?? [],
    acceptUnhashed: config.verify.acceptUnhashed,
    now: new Date(),
  };
  const lockedUntil = readLockedUntil(flags, options.now);
  const identityFiles = (flags.identity ?? []).map((path) => resolve(directory, path));
  const asked = { flags, config, options, threadsFor, lockedUntil, identityFiles };
  const verifyTarget = (target: string) => verifyOne(target, asked, context);
  const targets = targetsOf(flags, config);
  const [first = '', ...others] = targets;
  if (others.length > 0) return verifyEach(targets, verifyTarget, context);
  const { report, trust } = await verifyTarget(first);
  const { contracts, ...found } = report;
  printer.document('evidence-verify/1', { trust, ...found });
  if ('runs' in report) printArchive(report, trust, printer);
  else printFile(report, trust, printer);
  return report.exit_code;
}

interface Asked {
  flags: FlagsOf<'verify'>;
  config: Config;
  options: VerifyOptions & { now: Date };
  threadsFor: FileDeps['threadsFor'];
  lockedUntil: Date | null;
  identityFiles: readonly string[];
}

async function verifyOne(target: string, asked: Asked, context: CommandContext): Promise<VerifiedTarget> {
  const { flags, config, options, threadsFor, lockedUntil, identityFiles } = asked;
  const { directory } = context;
  const store = storeOf(target);
  const path = store.locate(target, directory);
  const kind = await kindOf(path, target);
  refuseUnused(flags, target, kind);
  const given: GivenTrust = {
    roots: options.roots ?? null,
    referenceAlone: flags.reference === true,
    without: flags.without ?? [],
    publicKeys: kind === 'archive' ? readPublicKeys(config.verify.publicKeyFiles) : [],
    stampRoots: kind === 'archive' ? readTimestampRoots(config.sign.rootsFile, 'sign.tsa_roots') : null,
  };
  const { workDirectory } = config;
  if (kind !== 'archive') {
    const report = await verifyFile(
      kind,
      path,
      target,
      { options, identityFiles, threadsFor, workDirectory },
      context.signal,
    );
    return { report, trust: describeTrust(config, given, report.contracts) };
  }
  const archiveOptions = {
    ...options,
    ...given,
    from: flags.from ?? null,
    fast: flags.fast === true,
    identities: await openIdentities(identityFiles),
    lockedUntil,
    concurrency: store.isRemote ? REMOTE_CONCURRENCY : LOCAL_CONCURRENCY,
  };
  const deps = { run: flags.run ?? null, store: config.archive.store, workDirectory, options: archiveOptions };
  const { verifyStored } = await import('./verify-archive.ts');
  const report = await verifyStored(path, target, deps, context);
  return { report, trust: describeTrust(config, given, report.contracts) };
}

/** Number of bundles of a remote store processed at once, so that some are downloaded while others are verified. */
const REMOTE_CONCURRENCY = 4;
/** Number of local bundles processed at once, so that one is read while the PDF thread works on another. */
const LOCAL_CONCURRENCY = 2;

/**
 * Returns the named targets; otherwise the archive of the named configuration. @throws EvidenceError `usage` if there
 * is neither.
 */
function targetsOf({ targets = [] }: FlagsOf<'verify'>, { archive, configFile }: Config): readonly string[] {
  if (targets.length > 0) return targets;
  if (archive.isNamed) return [archive.url];
  if (configFile === null)
    throw new EvidenceError('usage', 'no target is given', {
      nextStep: `${NAME_ONE} Or name a configuration with archive.url: evidence verify --config evidence.yaml.`,
    });
  throw new EvidenceError('usage', `${configFile} names no archive (archive.url), and no target is given`, {
    nextStep: `Name it too: evidence verify ${DEFAULT_ARCHIVE} --config ${shellWord(configFile)}. This is the default archive of an export without archive.url.`,
  });
}

function toConfigFlags(flags: FlagsOf<'verify'>) {
  return {
    config: flags.config,
    endpoint: flags.endpoint,
    require: flags.require,
    sealKey: flags['seal-key'],
    timestampRoots: flags['timestamp-roots'],
    stampRoots: flags['stamp-roots'],
    publicKey: flags['public-key'],
    workDirectory: flags['work-directory'],
    acceptUnhashed: flags['accept-unhashed'],
  };
}

async function loadContract(path: string) {
  return (await import('../config/contract.ts')).readContract(path);
}

function readLockedUntil(flags: FlagsOf<'verify'>, now: Date): Date | null {
  const text = flags['locked-for'];
  return text === undefined ? null : new Date(now.getTime() + readDays('--locked-for', text));
}

/**
 * Result for one of several targets. A target that could not be verified has an error, which does not affect the
 * others.
 */
type Ended = { target: string } & (VerifiedTarget | { error: EvidenceError });

/** Exit codes by severity, worst first: refuted, not verifiable, not proved. */
const BY_SEVERITY = [1, 2, 5, 3, 4, 0];

/**
 * Verifies targets one after another. Prints a line for each, details for those with findings, and returns the worst
 * exit code.
 */
async function verifyEach(
  targets: readonly string[],
  verifyTarget: (target: string) => Promise<VerifiedTarget>,
  { printer, signal }: CommandContext,
): Promise<number> {
  const ended: Ended[] = [];
  let said = '';
  for (const target of targets) {
    signal.throwIfAborted();
    const one = await tryOne(target, verifyTarget, signal);
    ended.push(one);
    if ('error' in one) {
      printError(target, one.error, printer);
      continue;
    }
    // Printed once for consecutive targets with the same trust.
    const trust = JSON.stringify(one.trust);
    if (trust !== said) printTrust(one.trust, printer);
    said = trust;
    printTarget(target, one.report, printer);
  }
  const codes = ended.map(codeOf);
  const code = BY_SEVERITY.find((severity) => codes.includes(severity)) ?? 0;
  printer.document('evidence-verify-several/1', { exit_code: code, targets: ended.map(toDocument) });
  printer.result(
    `Together      ${plural(targets.length, 'target')}: exit code 0 for ${codes.filter((one) => one === 0).length} of them (exit code ${code} for all)`,
  );
  return code;
}

async function tryOne(
  target: string,
  verifyTarget: (target: string) => Promise<VerifiedTarget>,
  signal: AbortSignal,
): Promise<Ended> {
  try {
    return { target, ...(await verifyTarget(target)) };
  } catch (error) {
    if (signal.aborted || !isEvidenceError(error)) throw error;
    return { target, error };
  }
}

function codeOf(ended: Ended): number {
  return 'error' in ended ? exitCodeOf(ended.error.code) : ended.report.exit_code;
}

function toDocument(ended: Ended) {
  const { target } = ended;
  if ('error' in ended) {
    const { code, message, nextStep = null } = ended.error;
    return { target, exit_code: codeOf(ended), error: { code, message, next_step: nextStep } };
  }
  const { contracts: _contracts, ...found } = ended.report;
  return { target, trust: ended.trust, ...found };
}
