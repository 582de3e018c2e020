import { EvidenceError } from '../../../core/errors.ts';
import { refuseOtherVersion } from '../../../verifier/ledger/version.ts';
import type { Archive } from '../../archive/archive.ts';
import { KEPT_APART } from './store-settings.ts';
import { DIRECTORY_STORE } from './stores/directory.ts';
import { S3_STORE } from './stores/s3.ts';
import type { Caller, NamedArchive, Store, StoreFlag } from './stores/store.ts';

/** Every kind of store. Nothing outside of this list and its files asks which one it has before it. */
const STORES: readonly Store[] = [DIRECTORY_STORE, S3_STORE];

/** The flags that only some of them have a use for. */
export const STORE_FLAGS: readonly StoreFlag[] = [...new Set(STORES.flatMap(({ flags }) => flags))];

const ADDRESS = /^([a-z][a-z0-9+.-]*):\/\/([^/]*)/i;

/** The store that an address is of: by its scheme, and a folder without one. */
export function storeOf(address: string): Store {
  const scheme = ADDRESS.exec(address)?.[1]?.toLowerCase();
  return STORES.find((store) => store.scheme === scheme) ?? DIRECTORY_STORE;
}

/** Reports whether it is no path. */
export function isUrl(address: string): boolean {
  return ADDRESS.test(address);
}

/**
 * The address of an archive: a path, or a URL of a store. A URL is not repeated.
 * @throws EvidenceError `config` for a URL of another kind, and for one that holds a secret.
 */
export function checkArchiveUrl(address: string): string {
  const [, scheme, authority = ''] = ADDRESS.exec(address) ?? [];
  if (scheme === undefined) {
    if (/^[a-z][a-z0-9+.-]+:/i.test(address))
      throw new EvidenceError('config', 'the archive looks like a URL without the // after its colon', {
        nextStep: 'Give s3://BUCKET/PREFIX, or ./ before the name of a folder that has a colon.',
      });
    return address;
  }
  if (!STORES.some((store) => store.scheme === scheme.toLowerCase()))
    throw new EvidenceError('config', 'this kind of archive is not known', {
      nextStep: `Give ${STORES.map(({ form }) => form).join(' or ')} as the archive.`,
    });
  if (!authority.includes('@')) return address;
  throw new EvidenceError('config', 'the address of the archive holds a user name or password', {
    nextStep: KEPT_APART,
  });
}

/** Names the forms of addresses of stores that have a use for a flag. */
export function formsWith(flag: StoreFlag): string {
  return STORES.filter(({ flags }) => flags.includes(flag))
    .map(({ form }) => form)
    .join(' or ');
}

/** An archive is closed when what uses it has ended, however it did. One of another version is not used at all. */
type Use<Given, T> = (archive: Given) => Promise<T>;

/**
 * For what is done with an archive that is there.
 * @throws EvidenceError `not-found` where there is none.
 */
export function withArchive<T>(named: NamedArchive, caller: Caller, use: Use<Archive, T>): Promise<T> {
  return withArchiveIfAny(named, caller, (archive) => {
    if (archive !== null) return use(archive);
    throw new EvidenceError('not-found', `there is no archive at ${named.url}`, {
      nextStep: 'Name the archive with --archive or archive.url.',
    });
  });
}

/** For what has an answer before anything was archived, too: it is given null then. */
export async function withArchiveIfAny<T>(
  named: NamedArchive,
  caller: Caller,
  use: Use<Archive | null, T>,
): Promise<T> {
  return closing(await storeOf(named.url).open(named, caller), use);
}

/** For an export: the archive is made where there is none. */
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
