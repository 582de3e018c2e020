import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Eta } from 'eta';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { packageFile } from '../../../core/install-paths.ts';
import type { CommandContext } from '../command.ts';
import { DEFAULT_ARCHIVE } from '../config/config.ts';
import { checkHttpUrl } from '../config/store-settings.ts';
import type { Store } from '../config/stores/store.ts';
import { checkArchiveUrl, formsWith, STORE_FLAGS, storeOf } from '../config/stores.ts';
import type { InitFlags } from './init-flags.ts';

/** Longer than any year. */
const DAYS_OF_A_YEAR = 366;
const MAX_YEARS = 30;

/** What the templates are filled in with. */
interface Deployment {
  auditUrl: string;
  archive: string;
  endpoint: string | null;
  mode: 'compliance' | 'governance';
  years: number;
  maxYears: number;
  maxDays: number;
  legalHold: boolean;
  kmsKey: string | null;
}

/** Writes what a first deployment needs; never over a file that is there. */
export async function runInit(flags: InitFlags, { printer, directory }: CommandContext): Promise<number> {
  const { archive = DEFAULT_ARCHIVE } = flags;
  const store = storeOf(checkArchiveUrl(archive));
  refuseForeign(store, flags);
  const { settings, files, values } = store.setUp(archive);
  const words = { ...toDeployment(archive, flags), ...values };
  const ofStore = settings === null ? '' : fillIn(settings, words);
  const texts = new Map([
    ['evidence.yaml', fillIn('evidence.yaml', { ...words, settings: ofStore })],
    ...files.map((name) => [`deploy/${name}.json`, formatted(fillIn(`${name}.json`, words))] as const),
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
  for (const [name, text] of texts) write(resolve(directory, name), text);
  printer.document({ written: names });
  printer.result(`Written: ${names.join(', ')}.`);
  printer.result('Next: read evidence.yaml, then look at it all with `evidence doctor`.');
  return 0;
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    throw new EvidenceError('usage', `${path} cannot be written: ${messageOf(error)}`, {
      nextStep: 'Run it in a folder that this user may write to, after removing what it has begun there.',
      cause: error,
    });
  }
}

/** What has no effect might be taken for having been set up. @throws EvidenceError `usage`. */
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
  return {
    auditUrl: quote(checkHttpUrl('--audit-url', flags['audit-url'] ?? 'https://audit.example.com')),
    archive: quote(archive),
    endpoint: endpoint === null ? null : quote(checkHttpUrl('--endpoint', endpoint)),
    ...{ mode: flags.mode, years, maxYears, maxDays: maxYears * DAYS_OF_A_YEAR },
    legalHold: flags['legal-hold'] === true,
    kmsKey: flags['kms-key'] === undefined ? null : quote(flags['kms-key']),
  };
}

/** As YAML and JSON both read it. */
function quote(text: string): string {
  return JSON.stringify(text);
}

/** @param name of a template, without `.eta`. */
function fillIn(name: string, words: object): string {
  const template = readFileSync(packageFile(`templates/deploy/${name}.eta`), 'utf8');
  return new Eta({ autoEscape: false, autoTrim: false }).renderString(template, words);
}

function formatted(json: string): string {
  return `${JSON.stringify(JSON.parse(json), null, 2)}\n`;
}
