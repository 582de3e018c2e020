import { resolve } from 'node:path';
import { attempt, type Check, ok, skipped } from '../doctor/check.ts';
import { plural } from '../report/view/words.ts';
import type { CommandContext } from './command.ts';
import { type Config, loadConfig } from './config.ts';
import type { DoctorFlags } from './flags.ts';
import { type Line, styled } from './printer.ts';
import { addressOf, connectService } from './service.ts';
import { openSigningKey, openStamping } from './signing.ts';
import { isS3Url, isUrl, openArchive, placeOf, refuseProtection } from './store.ts';
import { openRecipients } from './trust.ts';

/** Looks at everything that an export will rest on, and says of each thing that is not right what to do. */
export async function runDoctor(flags: DoctorFlags, context: CommandContext): Promise<number> {
  const { printer, environment, directory } = context;
  const config = await loadConfig(flags, environment, directory);
  const checks: Check[] = [];
  for (const look of [checkArchive, checkAudit, checkPast, checkEncryption, checkSigningKey, checkStamping]) {
    context.signal.throwIfAborted();
    const found = await look(config, context);
    for (const check of found) printer.result(format(check));
    checks.push(...found);
  }
  const exitCode = exitCodeOf(checks);
  printer.document({ exit_code: exitCode, archive: config.archiveUrl, checks });
  return exitCode;
}

/** What is configured wrongly comes before what is refused: it may be why. */
function exitCodeOf(checks: readonly Check[]): number {
  if (checks.some(({ state }) => state === 'failed')) return 2;
  return checks.some(({ state }) => state === 'refused') ? 5 : 0;
}

async function checkArchive(config: Config, context: CommandContext): Promise<Check[]> {
  const { archiveUrl, store } = config;
  let checks: Check[] = [];
  const named = await attempt('archive', async () => {
    if (isS3Url(archiveUrl)) {
      const { place, options } = await placeOf(archiveUrl, store, context.signal);
      const { checkBucket } = await import('../doctor/bucket.ts');
      checks = await checkBucket(place, { ...options, limits: { ...options.limits, attempts: ATTEMPTS } });
    } else {
      refuseProtection(store);
      // It knows which kinds of archive there are.
      if (isUrl(archiveUrl)) await (await openArchive(config, context, false))?.close();
      const { checkDirectory } = await import('../doctor/directory.ts');
      checks = await checkDirectory(resolve(context.directory, archiveUrl.replace(/^file:\/\//, '')));
    }
    return ok('archive', archiveUrl);
  });
  return named.state === 'ok' ? checks : [named];
}

/** Somebody is waiting, and can ask again. */
const ATTEMPTS = 3;

async function checkAudit(config: Config, { printer, signal }: CommandContext): Promise<Check[]> {
  let checks: Check[] = [];
  const named = await attempt('service', async () => {
    const service = connectService(config, printer, signal);
    try {
      const { checkService } = await import('../doctor/service.ts');
      checks = await checkService(service.client, service.origin);
    } finally {
      await service.close();
    }
    return ok('service', service.origin);
  });
  return named.state === 'ok' ? checks : [named];
}

/** What was exported so far. */
async function checkPast(config: Config, context: CommandContext): Promise<Check[]> {
  let checks: Check[] = [];
  const named = await attempt('months', async () => {
    const archive = await openArchive(config, context, false);
    try {
      const { checkHistory } = await import('../doctor/history.ts');
      const auditUrl = config.auditUrl === null ? null : addressOf(config.auditUrl);
      checks = await checkHistory(archive, auditUrl, new Date());
    } finally {
      await archive?.close();
    }
    return ok('months', config.archiveUrl);
  });
  return named.state === 'ok' ? checks : [named];
}

async function checkEncryption(config: Config): Promise<Check[]> {
  const check = await attempt('encryption', async () => {
    const recipients = await openRecipients(config);
    if (recipients === null) return skipped('encryption', 'nobody is named to encrypt to (archive.encrypt_to)');
    return ok('encryption', `bundles are encrypted to ${plural(recipients.names.length, 'recipient')}`);
  });
  return [check];
}

async function checkSigningKey(config: Config, context: CommandContext): Promise<Check[]> {
  const check = await attempt('signing-key', async () => {
    const key = openSigningKey(config, context);
    if (key === null) return skipped('signing-key', 'none is configured (sign.key_file), so runs are not signed');
    return ok('signing-key', `can be read; its id is ${key.id}`);
  });
  return [check];
}

async function checkStamping(config: Config, context: CommandContext): Promise<Check[]> {
  const check = await attempt('time-stamp', async () => {
    const stamping = openStamping(config, context);
    if (stamping === null)
      return skipped('time-stamp', 'no authority is configured (sign.tsa_url), so runs are not time-stamped');
    try {
      const { checkAuthority } = await import('../doctor/authority.ts');
      return await checkAuthority(stamping);
    } finally {
      await stamping.authority.close();
    }
  });
  return [check];
}

const MARKS = { ok: '✓', failed: '✗', refused: '✗', skipped: '–', noted: '!' } as const;
const STYLES = { ok: 'green', failed: 'red', refused: 'red', skipped: 'yellow', noted: 'yellow' } as const;
const NAME_WIDTH = 14;

/** One line: it may end in a log. */
function format({ name, state, says, next_step }: Check): Line {
  const lead = styled(`${MARKS[state]} ${name.padEnd(NAME_WIDTH)}`, STYLES[state]);
  return [lead, ` ${says}${next_step === undefined ? '' : ` → ${next_step}`}`];
}
