import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { EvidenceError } from '../../../../core/errors.ts';
import { openDirectoryArchive } from '../../../archive/directory/archive.ts';
import { checkRoot } from '../../../archive/directory/folder.ts';
import type { StoreSettings } from '../store-settings.ts';
import type { Caller, NamedArchive, Store } from './store.ts';

/** A folder; its address is a path. */
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
    refuseProtection(named.store);
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
  refuseProtection(named.store);
  await checkRoot(folderOf(named, caller));
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** Whoever asked for a lock must not believe that there is one. @throws EvidenceError `config`. */
function refuseProtection({ retention, legalHold, kmsKeyId }: StoreSettings): void {
  const asked =
    retention !== undefined ? 'retention' : legalHold ? 'legal_hold' : kmsKeyId !== undefined ? 'kms_key_id' : null;
  if (asked === null) return;
  throw new EvidenceError('config', `archive.${asked} is set, but a directory cannot do that`, {
    nextStep: `Give s3://BUCKET/PREFIX as the archive, or leave out archive.${asked}.`,
  });
}
