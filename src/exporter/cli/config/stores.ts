import { EvidenceError } from '../../../core/errors.ts';
import { refuseOtherVersion } from '../../../verifier/ledger/version.ts';
import type { Archive } from '../../archive/archive.ts';
import { KEPT_APART } from './store-settings.ts';
import { DIRECTORY_STORE } from './stores/directory.ts';
import { S3_STORE } from './stores/s3.ts';
import type { Caller, NamedArchive, Store, StoreFlag } from './stores/store.ts';

/** All kinds of stores. No code outside this list and its files distinguishes between them. */
const STORES: readonly Store[] = [DIRECTORY_STORE, S3_STORE];

/** Flags that apply to some stores only. */
export const STORE_FLAGS: readonly StoreFlag[] = [...new Set(STORES.flatMap(({ flags }) => flags))];

const ADDRESS = /^([a-z][a-z0-9+.-]*):\/\/([^/]*)/i;

/** Returns the store of an address by its scheme; a folder if there is no scheme. */
export function storeOf(address: string): Store {
  const scheme = ADDRESS.exec(address)?.[1]?.toLowerCase();
  return STORES.find((store) => store.scheme === scheme) ?? DIRECTORY_STORE;
}

/** Reports whether the address is a URL, not a path. */
export function isUrl(address: string): boolean {
  return ADDRESS.test(address);
}

/**
 * Checks the address of an archive: a path, or a URL of a store. Messages omit URLs.
 * @throws EvidenceError `config` for an unknown kind of URL, and for a URL that contains a secret.
 */
export function checkArchiveUrl(address: string): string {
  const [, scheme, authority = ''] = ADDRESS.exec(address) ?? [];
  if (scheme === undefined) {
    if (/^[a-z][a-z0-9+.-]+:/i.test(address))
      throw new EvidenceError('config', 'the archive looks like a URL without // after the colon', {
        nextStep: 'Use s3://BUCKET/PREFIX, or put ./ before a folder name that contains a colon.',
      });
    return address;
  }
  if (!STORES.some((store) => store.scheme === scheme.toLowerCase()))
    throw new EvidenceError('config', 'unknown kind of archive', {
      nextStep: `Use ${STORES.map(({ form }) => form).join(' or ')}.`,
    });
  if (!authority.includes('@')) return address;
  throw new EvidenceError('config', 'the address of the archive contains a user name or password', {
    nextStep: KEPT_APART,
  });
}

/** Lists the address forms of the stores that a flag applies to. */
export function formsWith(flag: StoreFlag): string {
  return STORES.filter(({ flags }) => flags.includes(flag))
    .map(({ form }) => form)
    .join(' or ');
}

/** Work on an archive, which is closed when the work ends. An archive of another format version is refused. */
type Use<Given, T> = (archive: Given) => Promise<T>;

/**
 * Opens an existing archive for work.
 * @throws EvidenceError `not-found` if it does not exist.
 */
export function withArchive<T>(named: NamedArchive, caller: Caller, use: Use<Archive, T>): Promise<T> {
  return withArchiveIfAny(named, caller, (archive) => {
    if (archive !== null) return use(archive);
    throw new EvidenceError('not-found', `there is no archive at ${named.url}`, {
      nextStep: 'Name the archive with --archive or archive.url.',
    });
  });
}

/**
 * Opens an archive for work that also has a result before anything was archived; passes null if there is no archive.
 */
export async function withArchiveIfAny<T>(
  named: NamedArchive,
  caller: Caller,
  use: Use<Archive | null, T>,
): Promise<T> {
  return closing(await storeOf(named.url).open(named, caller), use);
}

/** Opens an archive for an export, and creates it if necessary. */
export async function withArchiveMade<T>(named: NamedArchive, caller: Caller, use: Use<Archive, T>): Promise<T> {
  return closing(await storeOf(named.url).make(named, caller), use);
}

async function closing<Given extends Archive | null, T>(archive: Given, use: Use<Given, T>): Promise<T> {
  try {
    if (archive !== null) await refuseOtherVersion(archive);
    return await use(archive);
  } finally {
    await archive?.close();
  }
}
