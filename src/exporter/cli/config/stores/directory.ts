import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { EvidenceError } from '../../../../core/errors.ts';
import { openDirectoryArchive } from '../../../archive/directory/archive.ts';
import { checkRoot } from '../../../archive/directory/folder.ts';
import type { StoreSettings } from '../store-settings.ts';
import type { Caller, NamedArchive, Store } from './store.ts';

/** Store in a folder, whose address is a path. */
export const DIRECTORY_STORE: Store = {
  scheme: 'file',
  form: 'a directory',
  archive: 'an archive in a folder',
  flags: [],
  isRemote: false,
  locate: (address, directory) => resolve(directory, address.replace(/^file:\/\//i, '')),
  open: async (named, caller) => {
    const path = folderOf(named, caller);
    return (await isDirectory(path)) ? openDirectoryArchive(path, { create: false }) : null;
  },
  make: async (named, caller) => {
    refuseOtherSettings(named.store);
    return openDirectoryArchive(folderOf(named, caller), { create: true });
  },
  checkForWriting,
  check: async (named, caller) => {
    await checkForWriting(named, caller);
    const { checkDirectory } = await import('../../../archive/directory/check.ts');
    return checkDirectory(folderOf(named, caller));
  },
  setUp: () => ({ settings: null, files: [], values: {} }),
};

function folderOf({ url }: NamedArchive, { directory }: Caller): string {
  return DIRECTORY_STORE.locate(url, directory);
}

async function checkForWriting(named: NamedArchive, caller: Caller): Promise<void> {
  refuseOtherSettings(named.store);
  await checkRoot(folderOf(named, caller));
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Refuses settings that only S3 supports, so that no one relies on a lock that does not exist. @throws EvidenceError
 * `config`.
 */
function refuseOtherSettings(settings: StoreSettings): void {
  const { retention, legalHold, kmsKeyId, endpoint, region, profile, caFile } = settings;
  const legal_hold = legalHold || undefined;
  const given = { retention, legal_hold, kms_key_id: kmsKeyId, endpoint, region, profile, ca_file: caFile };
  const [asked] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (asked === undefined) return;
  throw new EvidenceError('config', `archive.${asked} is set but has no effect on a folder`, {
    nextStep: `Give s3://BUCKET/PREFIX as the archive, or leave out archive.${asked}.`,
  });
}
