import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import type { Archive } from '../../../verifier/archive/archive.ts';
import { openDirectoryArchive } from '../../archive/directory.ts';
import { checkRoot } from '../../archive/folder.ts';
import type { S3Options } from '../../archive/s3/options.ts';
import type { S3Place } from '../../archive/s3/place.ts';
import type { CommandContext } from '../command.ts';
import { readCertificates } from './given-file.ts';
import type { StoreSettings } from './store-settings.ts';

/** An archive as the configuration names it. */
export interface NamedArchive {
  archiveUrl: string;
  store: StoreSettings;
}

/**
 * The archive of a URL or path.
 * @param create whether it may be made; otherwise a folder that is not there is `null`.
 */
export async function openArchive(
  { archiveUrl, store }: NamedArchive,
  { directory, signal }: Pick<CommandContext, 'directory' | 'signal'>,
  create: boolean,
): Promise<Archive | null> {
  if (isS3Url(archiveUrl)) return openBucket(archiveUrl, store, signal);
  if (create) refuseProtection(store);
  const path = folderOf({ archiveUrl }, { directory });
  if (!create && !(await isDirectory(path))) return null;
  return openDirectoryArchive(path, { create });
}

/** The folder of an archive that is not in S3. */
export function folderOf(
  { archiveUrl }: Pick<NamedArchive, 'archiveUrl'>,
  { directory }: Pick<CommandContext, 'directory'>,
): string {
  return resolve(directory, archiveUrl.replace(/^file:\/\//, ''));
}

/** Whether an archive in a folder could be written to, as far as can be told without writing. */
export async function checkForWriting(
  { archiveUrl, store }: NamedArchive,
  context: Pick<CommandContext, 'directory'>,
): Promise<void> {
  if (isS3Url(archiveUrl)) return;
  refuseProtection(store);
  await checkRoot(folderOf({ archiveUrl }, context));
}

export function isS3Url(url: string): boolean {
  return /^s3:\/\//i.test(url);
}

/** Whether it is no path. */
export function isUrl(url: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(url);
}

export async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** The SDK is loaded by those alone who need it. */
async function openBucket(url: string, store: StoreSettings, signal: AbortSignal): Promise<Archive> {
  const { place, options } = await s3LocationOf(url, store, signal);
  const { openS3Archive } = await import('../../archive/s3/archive.ts');
  return openS3Archive(place, options);
}

/** Where an archive in S3 lies, and how it is reached. */
export async function s3LocationOf(
  url: string,
  store: StoreSettings,
  signal: AbortSignal,
): Promise<{ place: S3Place; options: S3Options }> {
  const { parseS3Url } = await import('../../archive/s3/place.ts');
  const { DEFAULT_S3_LIMITS } = await import('../../archive/s3/options.ts');
  const { caFile, ...settings } = store;
  const ca = caFile === undefined ? {} : { ca: readCertificates('archive.ca_file', caFile) };
  return { place: parseS3Url(url), options: { ...settings, ...ca, limits: DEFAULT_S3_LIMITS, signal } };
}

/** Whoever asked for a lock must not believe that there is one. @throws EvidenceError `config`. */
export function refuseProtection({ retention, legalHold, kmsKeyId }: StoreSettings): void {
  const asked =
    retention !== undefined ? 'retention' : legalHold ? 'legal_hold' : kmsKeyId !== undefined ? 'kms_key_id' : null;
  if (asked === null) return;
  throw new EvidenceError('config', `archive.${asked} is set, but a directory cannot do that`, {
    nextStep: `Give s3://BUCKET/PREFIX as the archive, or leave out archive.${asked}.`,
  });
}
