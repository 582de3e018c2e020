import { EvidenceError } from '../../../core/errors.ts';
import { refuseOtherVersion } from '../../../verifier/ledger/version.ts';
import type { Archive } from '../../archive/archive.ts';
import type { Caller, NamedArchive } from './stores/store.ts';
import { storeOf } from './stores.ts';

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
