import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import { writeNewFile } from '../../../core/new-file.ts';
import type { CommandContext } from '../command.ts';
import { CONFIG_FILE, readConfigFile } from '../config/given-file.ts';
import { namedFilesOf } from '../config/named-files.ts';
import { DEFAULT_ARCHIVE } from '../config/sections.ts';
import { checkHttpUrl } from '../config/store-settings.ts';
import type { Store } from '../config/stores/store.ts';
import { checkArchiveUrl, formsWith, STORE_FLAGS, storeOf } from '../config/stores.ts';
import type { FlagsOf } from './flags-of.ts';
import { afterSchedule, type Scheduled, schedulersOf, scheduleTexts } from './init-schedule.ts';
import { fillTemplate, quote } from './init-templates.ts';

const ELSEWHERE = 'Remove the files it has written so far, and run it in a folder that this user may write to.';

/** Upper bound of the days in a year. */
const DAYS_OF_A_YEAR = 366;
const MAX_YEARS = 30;

/** Values of the templates. */
interface Deployment {
  auditUrl: string;
  archive: string;
  endpoint: string | null;
  region: string | null;
  mode: 'compliance' | 'governance';
  years: number;
  maxYears: number;
  maxDays: number;
  legalHold: boolean;
  kmsKey: string | null;
}

/** Writes the files for a first deployment; never overwrites existing files. */
export async function runInit(flags: FlagsOf<'init'>, { printer, directory }: CommandContext): Promise<number> {
  const schedulers = schedulersOf(flags);
  // A schedule may be written for an existing configuration, which is then left as it is.
  const isConfigured = schedulers.length > 0 && existsSync(resolve(directory, CONFIG_FILE));
  if (isConfigured) refuseWithConfiguration(flags);
  const scheduled = schedulers.length > 0 ? await toScheduled(isConfigured, flags, directory) : null;
  const texts = new Map([
    ...(isConfigured ? [] : configurationTexts(flags)),
    ...(scheduled === null ? [] : schedulers.flatMap((name) => scheduleTexts(name, scheduled))),
  ]);
  const names = [...texts.keys()];
  const there = names.filter((name) => existsSync(resolve(directory, name)));
  if (there.length > 0)
    throw new EvidenceError(
      'usage',
      `${there.join(', ')} ${there.length === 1 ? 'exists' : 'exist'}; nothing was written`,
      {
        nextStep: 'Run it in another folder and compare, or move the existing files away.',
      },
    );
  for (const [name, text] of texts) writeNewFile(resolve(directory, name), text, ELSEWHERE);
  printer.document('evidence-init/1', { written: names });
  printer.result(`Written: ${names.join(', ')}.`);
  if (isConfigured) printer.result(`${CONFIG_FILE} exists and was not changed.`);
  if (scheduled !== null) for (const name of schedulers) printer.result(afterSchedule(name, scheduled));
  printer.result(`Next: read ${isConfigured ? 'them' : CONFIG_FILE}, then check everything with \`evidence doctor\`.`);
  return 0;
}

/** Returns the names and texts of the configuration and of the policies for its store. */
function configurationTexts(flags: FlagsOf<'init'>): [name: string, text: string][] {
  const { archive = DEFAULT_ARCHIVE } = flags;
  const store = storeOf(checkArchiveUrl(archive));
  refuseForeign(store, flags);
  const { settings, files, values } = store.setUp(archive);
  const words = { ...toDeployment(archive, flags), ...values };
  const ofStore = settings === null ? '' : fillTemplate(settings, words);
  return [
    [CONFIG_FILE, fillTemplate(CONFIG_FILE, { ...words, settings: ofStore })],
    ...files.map((name): [string, string] => [`deploy/${name}.json`, formatted(fillTemplate(`${name}.json`, words))]),
  ];
}

async function toScheduled(isConfigured: boolean, flags: FlagsOf<'init'>, directory: string): Promise<Scheduled> {
  const { file } = await readConfigFile(isConfigured ? CONFIG_FILE : undefined, directory, null);
  const { isRemote } = storeOf(checkArchiveUrl(file.archive?.url ?? flags.archive ?? DEFAULT_ARCHIVE));
  const restamps = file.sign?.tsa_url !== undefined;
  const workDirectory = file.work_directory ?? null;
  return { directory, isInFolder: !isRemote, restamps, files: namedFilesOf(file), workDirectory };
}

/** @throws EvidenceError `usage` for flags of a configuration that already exists. */
function refuseWithConfiguration(flags: FlagsOf<'init'>): void {
  const given = (['audit-url', 'archive', 'endpoint', 'region', 'legal-hold', 'kms-key'] as const).filter(
    (name) => flags[name] !== undefined,
  );
  if (given.length === 0) return;
  throw new EvidenceError('usage', `${CONFIG_FILE} exists, so --${given.join(', --')} would have no effect`, {
    nextStep: `Leave it out: the schedule uses ${CONFIG_FILE}.`,
  });
}

/**
 * Refuses flags without an effect, because the user might believe that they were applied. @throws EvidenceError
 * `usage`.
 */
function refuseForeign(store: Store, flags: FlagsOf<'init'>): void {
  const given = STORE_FLAGS.filter((flag) => flags[flag] !== undefined && !store.flags.includes(flag));
  const [first] = given;
  if (first === undefined) return;
  throw new EvidenceError('usage', `--${given.join(', --')} has no effect on ${store.archive}`, {
    nextStep: `Name ${formsWith(first)} with --archive.`,
  });
}

function toDeployment(archive: string, flags: FlagsOf<'init'>): Deployment {
  const { endpoint = null, years } = flags;
  if (!Number.isInteger(years) || years < 1 || years > 100)
    throw new EvidenceError('usage', '--years is not a whole number from 1 to 100');
  const maxYears = Math.max(years, MAX_YEARS);
  const region = flags.region ?? (endpoint === null ? null : REGION_OF_OTHERS);
  const kmsKey = flags['kms-key'] === undefined ? null : checkKmsKey(flags['kms-key']);
  return {
    auditUrl: quote(checkHttpUrl('--audit-url', flags['audit-url'] ?? 'https://audit.example.com')),
    archive: quote(archive),
    endpoint: endpoint === null ? null : quote(checkHttpUrl('--endpoint', endpoint)),
    region: region === null ? null : quote(region),
    mode: flags.mode,
    years,
    maxYears,
    maxDays: maxYears * DAYS_OF_A_YEAR,
    legalHold: flags['legal-hold'] === true,
    kmsKey: kmsKey === null ? null : quote(kmsKey),
  };
}

/** Region of stores other than Amazon's, which seldom have regions and accept this one. */
const REGION_OF_OTHERS = 'us-east-1';

/** @throws EvidenceError `usage` for an alias: policies identify keys by ARN only. */
function checkKmsKey(arn: string): string {
  if (/^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[A-Za-z0-9-]+$/.test(arn)) return arn;
  throw new EvidenceError('usage', '--kms-key is not the ARN of a key, which policies require', {
    nextStep:
      'Use the form arn:aws:kms:REGION:ACCOUNT:key/ID. To look up an alias: aws kms describe-key --key-id alias/NAME --query KeyMetadata.Arn --output text',
  });
}

function formatted(json: string): string {
  return `${JSON.stringify(JSON.parse(json), null, 2)}\n`;
}
