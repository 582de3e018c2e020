import { access, constants, lstat, mkdir, open, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import { hasCode } from '../../../verifier/archive/failure.ts';
import { storeFailure } from './failure.ts';

/**
 * Synchronizes a folder's directory entries to disk. Without it, a crash can lose the name of a file whose content is
 * safe.
 */
export async function syncFolder(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

/**
 * Creates the root of an archive and its missing parents, durably. Node's own `recursive` never returns if an existing
 * parent refuses its child with ENOENT, as /proc does.
 */
export async function makeRoot(path: string): Promise<void> {
  const folder = resolve(path);
  const parent = dirname(folder);
  try {
    await mkdir(folder);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return;
    if (!hasCode(error, 'ENOENT') || parent === folder) throw error;
    await makeRoot(parent);
    await mkdir(folder).catch((second: unknown) => {
      if (!hasCode(second, 'EEXIST')) throw second;
    });
  }
  await syncFolder(parent);
}

/** Returns the folder, or its nearest existing ancestor. */
export async function nearestFolder(path: string): Promise<string> {
  const exists = await stat(path).then(
    () => true,
    (error: unknown) => !hasCode(error, 'ENOENT', 'ENOTDIR'),
  );
  return exists || dirname(path) === path ? path : nearestFolder(dirname(path));
}

/**
 * Checks that the root of an archive is writable or can be created, without writing.
 * @throws EvidenceError `config` if it is a file; `archive` if this user lacks write permission.
 */
export async function checkRoot(path: string): Promise<void> {
  const place = await nearestFolder(path);
  try {
    if (!(await stat(place)).isDirectory()) throw noFolder(place);
    await access(place, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw storeFailure(error, `write to ${place}`);
  }
}

/** Returns the error for a file at the path of an archive or of one of its parents. */
export function noFolder(path: string): EvidenceError {
  return new EvidenceError('config', `${path} is a file, not the folder of an archive`, {
    nextStep: 'Name another folder with --archive or archive.url.',
  });
}

/**
 * Creates the folders of a key below the root, durably.
 *
 * @param durable folders known to be on disk; created folders are added. An existing folder is added only after its
 * parent was synchronized here, because the process that created it may have died before doing so.
 * @throws EvidenceError `unreadable` if a link, `archive` if a file is in place of a folder.
 */
export async function makeFolders(root: string, names: readonly string[], durable: Set<string>): Promise<void> {
  let folder = root;
  for (const name of names) {
    const parent = folder;
    folder = join(parent, name);
    if (!durable.has(folder)) {
      await mkdir(folder).catch((error: unknown) => {
        if (!hasCode(error, 'EEXIST')) throw error;
      });
      await syncFolder(parent);
    }
    await refuseLinkedFolder(folder);
    durable.add(folder);
  }
}

/** Reports whether all folders of a key exist. @throws EvidenceError `unreadable` if one of them is a link. */
export async function hasFolders(root: string, names: readonly string[]): Promise<boolean> {
  let folder = root;
  for (const name of names) {
    folder = join(folder, name);
    const stats = await lstat(folder).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
      throw error;
    });
    if (stats === null) return false;
    if (stats.isSymbolicLink()) throw linked(folder);
    if (!stats.isDirectory()) return false;
  }
  return true;
}

async function refuseLinkedFolder(folder: string): Promise<void> {
  const stats = await lstat(folder);
  if (stats.isDirectory()) return;
  if (stats.isSymbolicLink()) throw linked(folder);
  throw new EvidenceError('archive', `${folder} is a file where the archive needs a folder`, {
    nextStep: 'Find out what put it there; nothing was stored.',
  });
}

/** Returns the error for a link in the archive: the owner of its target could replace the evidence. */
export function linked(path: string): EvidenceError {
  return new EvidenceError('unreadable', `${path} is a link, which an archive never contains`, {
    nextStep: 'Find out who put it there and remove it.',
  });
}
