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
import { afterSchedule, type Scheduled, schedulersOf, scheduleTexts } from './init-schedule.ts';
import { fillTemplate, quote } from './init-templates.ts';
import type { InitFlags } from './setup-flags.ts';

const ELSEWHERE = 'Run it in a folder that this user may write to, after removing what it has begun there.';

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
export async function runInit(flags: InitFlags, { printer, directory }: CommandContext): Promise<number> {
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
      `${there.join(', ')} ${there.length === 1 ? 'is' : 'are'} there already; nothing was written`,
      {
        nextStep: 'Run it in another folder and compare, or move what is there out of the way.',
      },
    );
  for (const [name, text] of texts) writeNewFile(resolve(directory, name), text, ELSEWHERE);
  printer.document('evidence-init/1', { written: names });
  printer.result(`Written: ${names.join(', ')}.`);
  if (isConfigured) printer.result(`${CONFIG_FILE} was there, and is as it was.`);
  if (scheduled !== null) for (const name of schedulers) printer.result(afterSchedule(name, scheduled));
  printer.result(`Next: read ${isConfigured ? 'them' : CONFIG_FILE}, then look at it all with \`evidence doctor\`.`);
  return 0;
}

/** Returns the names and texts of the configuration and of the policies for its store. */
function configurationTexts(flags: InitFlags): [name: string, text: string][] {
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

async function toScheduled(isConfigured: boolean, flags: InitFlags, directory: string): Promise<Scheduled> {
  const { file } = await readConfigFile(isConfigured ? CONFIG_FILE : undefined, directory, null);
  const { isRemote } = storeOf(checkArchiveUrl(file.archive?.url ?? flags.archive ?? DEFAULT_ARCHIVE));
  const restamps = file.sign?.tsa_url !== undefined;
  const workDirectory = file.work_directory ?? null;
  return { directory, isInFolder: !isRemote, restamps, files: namedFilesOf(file), workDirectory };
}

/** @throws EvidenceError `usage` for flags of a configuration that already exists. */
function refuseWithConfiguration(flags: InitFlags): void {
  const given = (['audit-url', 'archive', 'endpoint', 'region', 'legal-hold', 'kms-key'] as const).filter(
    (name) => flags[name] !== undefined,
  );
  if (given.length === 0) return;
  throw new EvidenceError('usage', `${CONFIG_FILE} is there already, so --${given.join(', --')} would mean nothing`, {
    nextStep: `Leave that out: the schedule goes by ${CONFIG_FILE}.`,
  });
}

/**
 * Refuses flags without an effect, because the user might believe that they were applied. @throws EvidenceError
 * `usage`.
 */
function refuseForeign(store: Store, flags: InitFlags): void {
  const given = STORE_FLAGS.filter((flag) => flags[flag] !== undefined && !store.flags.includes(flag));
  const [first] = given;
  if (first === undefined) return;
  throw new EvidenceError('usage', `--${given.join(', --')} means nothing for ${store.archive}`, {
    nextStep: `Name ${formsWith(first)} with --archive.`,
  });
}

function toDeployment(archive: string, flags: InitFlags): Deployment {
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
  throw new EvidenceError('usage', '--kms-key is not the ARN of a key, which is what policies name keys by', {
    nextStep:
      'It is arn:aws:kms:REGION:ACCOUNT:key/ID. That of an alias: aws kms describe-key --key-id alias/NAME --query KeyMetadata.Arn --output text',
  });
}

function formatted(json: string): string {
  return `${JSON.stringify(JSON.parse(json), null, 2)}\n`;
}
