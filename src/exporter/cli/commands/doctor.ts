import { isEvidenceError } from '../../../core/errors.ts';
import { plural } from '../../../core/plurals.ts';
import { INCOMPLETE } from '../../../core/terminal/crash.ts';
import { exitCodeOf } from '../../../core/terminal/exit.ts';
import { type OutputLine, styled } from '../../../core/terminal/printer.ts';
import { lastEndedMonth, periodOfMonths } from '../../../verifier/records/months.ts';
import { attempt, attemptAll, type Check, doubtful, ok, skipped } from '../../check.ts';
import type { SeenStream } from '../../doctor/services.ts';
import { checkRoots } from '../../doctor/trust.ts';
import { needsListing } from '../../export/listing.ts';
import type { CommandContext } from '../command.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { type Footing, type FootingPart, LOADERS } from '../config/footing.ts';
import { addressOf, connectService } from '../config/service.ts';
import { storeOf, withArchiveIfAny } from '../config/stores.ts';
import { MORE_ROOM, reckonRoom } from '../config/work-directory.ts';
import type { FlagsOf } from './flags-of.ts';

/** Checks everything that an export depends on, and prints a next step for each failed check. */
export async function runDoctor(flags: FlagsOf<'doctor'>, context: CommandContext): Promise<number> {
  const { printer, environment, directory } = context;
  const config = await loadConfig(flags, environment, directory);
  const checks: Check[] = [];
  for await (const check of look(config, context)) {
    context.signal.throwIfAborted();
    printer.result(format(check));
    checks.push(check);
  }
  const exitCode = endOf(checks);
  printer.document('evidence-doctor/1', { exit_code: exitCode, archive: config.archive.url, checks });
  return exitCode;
}

async function* look(config: Config, context: CommandContext): AsyncGenerator<Check> {
  const streams: SeenStream[] = [];
  const archive = await attemptAll('archive', () => storeOf(config.archive.url).check(config.archive, context));
  yield* archive;
  yield* await checkPast(config, context, archive);
  yield* await checkAudit(config, context, streams);
  for (const part of Object.keys(LOADERS) as FootingPart[])
    yield await checkPart(part, { config, context, counts: streams.map(({ entryCount }) => entryCount) });
}

/**
 * Returns the exit code that the export would have. A wrong configuration comes before a refusal, because it may cause
 * it. Temporary failures and doubts come last; their code is not 0, so that schedulers that print only failures show
 * them.
 */
function endOf(checks: readonly Check[]): number {
  const codes = checks.flatMap(({ code }) => (code === undefined ? [] : [exitCodeOf(code)]));
  const doubt = checks.some(({ state }) => state === 'doubtful') ? INCOMPLETE : 0;
  return [2, 5].find((code) => codes.includes(code)) ?? codes[0] ?? doubt;
}

/** @param streams receives each stream that the service lists. */
async function checkAudit(
  config: Config,
  { printer, signal }: CommandContext,
  streams: SeenStream[],
): Promise<Check[]> {
  return attemptAll('service', async () => {
    await using service = connectService(config.source, printer, signal);
    const { checkService } = await import('../../doctor/services.ts');
    const scope = { completeness: config.verify.completeness, required_claims: config.verify.required };
    const month = periodOfMonths(lastEndedMonth(new Date()));
    const checks = await checkService(service, needsListing(scope, month), streams);
    if (config.verify.required.includes('seal') && checks.every(({ state }) => state !== 'failed')) {
      const { checkNewestSeals } = await import('../../doctor/trust.ts');
      const { contract } = service.contract;
      const look = async () =>
        checkNewestSeals(service.client, streams, { contract, given: await LOADERS.sealKeys(config) });
      checks.push(await attempt('newest-seals', look));
    }
    if (service.supplements === null) return checks;
    const { checkSupplements } = await import('../../doctor/services.ts');
    return [...checks, ...(await checkSupplements(service.supplements))];
  });
}

/** Checks the exported history. @param before checks of the archive. */
async function checkPast(config: Config, context: CommandContext, before: readonly Check[]): Promise<Check[]> {
  if (before.some(({ state }) => state === 'failed')) return [skipped('months', 'the archive has a problem')];
  return attemptAll('months', async () => {
    const { checkHistory } = await import('../../doctor/history.ts');
    const auditUrl = config.source.auditUrl === null ? null : addressOf(config.source.auditUrl);
    const signing = await loadSigning(config, context);
    return withArchiveIfAny(config.archive, context, (archive) =>
      checkHistory(archive, { auditUrl, signing }, new Date()),
    );
  });
}

/** Returns the keys that an export signs with and trusts; null if they cannot be read, which another check reports. */
async function loadSigning(
  config: Config,
  context: CommandContext,
): Promise<Pick<Footing, 'signingKey' | 'publicKeys'> | null> {
  try {
    return { signingKey: await LOADERS.signingKey(config, context), publicKeys: await LOADERS.publicKeys(config) };
  } catch (error) {
    if (!isEvidenceError(error) || error.code === 'interrupted') throw error;
    return null;
  }
}

interface Looking {
  config: Config;
  context: CommandContext;
  counts: readonly (number | null)[];
}

/** Describes a part of the footing that was loaded. */
type Describe<Name extends FootingPart> = (loaded: Footing[Name], looking: Looking) => Check | Promise<Check>;

const PARTS: { [Name in FootingPart]: [name: string, describe: Describe<Name>] } = {
  workDirectory: ['work-directory', describeWorkDirectory],
  sealKeys: [
    'seal-keys',
    ({ size }) =>
      size === 0
        ? skipped('seal-keys', 'none configured (verify.seal_keys), so seals stay unproved')
        : ok('seal-keys', `${plural(size, 'key')} readable`),
  ],
  roots: ['roots', (roots, { config }) => checkRoots(roots, config.verify.required)],
  publicKeys: [
    'public-keys',
    (keys) =>
      keys.length === 0
        ? skipped('public-keys', 'none configured (verify.public_keys)')
        : ok('public-keys', `${plural(keys.length, 'public key')} readable`),
  ],
  controls: [
    'controls',
    (controls) =>
      controls.length === 0
        ? skipped('controls', 'none configured (report.controls)')
        : ok('controls', `${plural(controls.length, 'control mapping')} readable`),
  ],
  recipients: [
    'encryption',
    (recipients) =>
      recipients === null
        ? skipped('encryption', 'no recipients configured (archive.encrypt_to)')
        : ok('encryption', `bundles are encrypted to ${plural(recipients.names.length, 'recipient')}`),
  ],
  signingKey: [
    'signing-key',
    (key) =>
      key === null
        ? skipped('signing-key', 'none configured (sign.key_file), so runs are not signed')
        : ok('signing-key', `readable; its id is ${key.id}`),
  ],
  stamping: ['time-stamp', describeStamping],
};

function checkPart<Name extends FootingPart>(part: Name, looking: Looking): Promise<Check> {
  const [name, describe] = PARTS[part];
  const load = LOADERS[part] as (config: Config, context: CommandContext) => Footing[Name] | Promise<Footing[Name]>;
  return attempt(name, async () => describe(await load(looking.config, looking.context), looking));
}

function describeWorkDirectory(free: number, { config, counts }: Looking): Check {
  const { says, isShort } = reckonRoom(config, free, counts);
  return isShort ? doubtful('work-directory', says, MORE_ROOM) : ok('work-directory', says);
}

async function describeStamping(stamping: Footing['stamping']): Promise<Check> {
  if (stamping === null)
    return skipped('time-stamp', 'no authority configured (sign.tsa_url), so runs are not time-stamped');
  try {
    const { checkAuthority } = await import('../../doctor/trust.ts');
    return await checkAuthority(stamping);
  } finally {
    await stamping.authority.close();
  }
}

const MARKS = { ok: '✓', doubtful: '!', failed: '✗', skipped: '–' } as const;
const STYLES = { ok: 'green', doubtful: 'yellow', failed: 'red', skipped: 'yellow' } as const;
const NAME_WIDTH = 14;

/** Formats a check as a single line, because it may go to a log. */
function format({ name, state, says, next_step }: Check): OutputLine {
  const lead = styled(`${MARKS[state]} ${name.padEnd(NAME_WIDTH)}`, STYLES[state]);
  return [lead, ` ${says}${next_step === undefined ? '' : ` → ${next_step}`}`];
}
