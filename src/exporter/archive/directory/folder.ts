import { access, constants, lstat, mkdir, open, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import { hasCode, storeFailure } from '../../../verifier/archive/failure.ts';

/** Writes a folder's list of names to disk: without it a crash can take back a file whose content is safe. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Makes the root of an archive and whatever lies above it, for good. Node's own `recursive` never returns where a
 * parent exists and refuses its child with ENOENT, as /proc does.
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

/** The folder itself, or the nearest one above it, in which it would be made. */
export async function nearestFolder(path: string): Promise<string> {
  const exists = await stat(path).then(
    () => true,
    (error: unknown) => !hasCode(error, 'ENOENT', 'ENOTDIR'),
  );
  return exists || dirname(path) === path ? path : nearestFolder(dirname(path));
}

/**
 * Looks whether the root of an archive can be written to, or made, without writing.
 * @throws EvidenceError `config` where a file stands in its place; `archive` where this user may not write.
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

/** Returns the error for a file where an archive, or a folder that it lies in, was named. */
export function noFolder(path: string): EvidenceError {
  return new EvidenceError('config', `${path} is a file, not the folder of an archive`, {
    nextStep: 'Name another folder with --archive or archive.url.',
  });
}

/**
 * Makes the folders of a key below the root, for good.
 *
 * @param durable folders known to be on disk already; those made are added. A folder that was found counts only once
 * its parent was synchronised here: whoever made it may have died before doing so.
 * @throws EvidenceError `unreadable` when a link, `archive` when a file stands in place of a folder.
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

/** Reports whether all folders of a key exist. @throws EvidenceError `unreadable` when one of them is a link. */
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

/** Evidence behind a link could be exchanged by whoever owns the other end. */
export function linked(path: string): EvidenceError {
  return new EvidenceError('unreadable', `${path} is a link, which an archive never contains`, {
    nextStep: 'Find out who put it there and remove it.',
  });
}
