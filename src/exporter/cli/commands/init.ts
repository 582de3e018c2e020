import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Eta } from 'eta';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { packageFile } from '../../../core/install-paths.ts';
import { parseS3Url } from '../../archive/s3/place.ts';
import type { CommandContext } from '../command.ts';
import { DEFAULT_ARCHIVE } from '../config/config.ts';
import { isS3Url } from '../config/store.ts';
import { checkArchiveUrl, checkHttpUrl } from '../config/store-settings.ts';
import type { InitFlags } from './init-flags.ts';

/** Longer than any year. */
const DAYS_OF_A_YEAR = 366;
const MAX_YEARS = 30;

/** What the templates are filled in with. */
interface Deployment {
  auditUrl: string;
  archive: string;
  endpoint: string | null;
  isS3: boolean;
  mode: 'compliance' | 'governance';
  years: number;
  maxYears: number;
  maxDays: number;
  bucket: string;
  /** Empty, or ending in a slash. */
  prefix: string;
  legalHold: boolean;
  kmsKey: string | null;
}

/** Writes what a first deployment needs; never over a file that is there. */
export async function runInit(flags: InitFlags, { printer, directory }: CommandContext): Promise<number> {
  const deployment = toDeployment(flags);
  const policies = ['writer-policy', 'auditor-policy', 'administrator-policy', 'bucket-policy'];
  const names = ['evidence.yaml', ...(deployment.isS3 ? policies.map((name) => `deploy/${name}.json`) : [])];
  const there = names.filter((name) => existsSync(resolve(directory, name)));
  if (there.length > 0)
    throw new EvidenceError(
      'usage',
      `${there.join(', ')} ${there.length === 1 ? 'is' : 'are'} there already; nothing was written`,
      {
        nextStep: 'Run it in another folder and compare, or move what is there out of the way.',
      },
    );
  for (const name of names) write(resolve(directory, name), fillIn(name, deployment));
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

function toDeployment(flags: InitFlags): Deployment {
  const { archive = DEFAULT_ARCHIVE, endpoint = null, years } = flags;
  checkArchiveUrl(archive);
  if (!Number.isInteger(years) || years < 1 || years > 100)
    throw new EvidenceError('usage', '--years is not a whole number from 1 to 100');
  const isS3 = isS3Url(archive);
  const { bucket, prefix } = isS3 ? parseS3Url(archive) : { bucket: '', prefix: '' };
  const ofS3 = (['endpoint', 'legal-hold', 'kms-key'] as const).filter((flag) => flags[flag] !== undefined);
  if (!isS3 && ofS3.length > 0)
    throw new EvidenceError('usage', `--${ofS3.join(', --')} means nothing for an archive in a folder`, {
      nextStep: 'Name s3://BUCKET/PREFIX with --archive.',
    });
  // What has a meaning of its own in a policy cannot be written as itself.
  if (/[*?$"]/.test(prefix)) throw new EvidenceError('usage', 'the prefix of the archive contains *, ?, $ or "');
  const maxYears = Math.max(years, MAX_YEARS);
  return {
    auditUrl: quote(checkHttpUrl('--audit-url', flags['audit-url'] ?? 'https://audit.example.com')),
    archive: quote(archive),
    endpoint: endpoint === null ? null : quote(checkHttpUrl('--endpoint', endpoint)),
    ...{ isS3, mode: flags.mode, years, maxYears, maxDays: maxYears * DAYS_OF_A_YEAR, bucket, prefix },
    legalHold: flags['legal-hold'] === true,
    kmsKey: flags['kms-key'] === undefined ? null : quote(flags['kms-key']),
  };
}

/** As YAML and JSON both read it. */
function quote(text: string): string {
  return JSON.stringify(text);
}

function fillIn(name: string, deployment: Deployment): string {
  const template = readFileSync(packageFile(`templates/deploy/${name.replace(/^deploy\//, '')}.eta`), 'utf8');
  const text = new Eta({ autoEscape: false, autoTrim: false }).renderString(template, deployment);
  return name.endsWith('.json') ? `${JSON.stringify(JSON.parse(text), null, 2)}\n` : text;
}
