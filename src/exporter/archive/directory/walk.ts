import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../core/errors.ts';
import type { StoredObject, Unlisted } from '../../../verifier/archive/archive.ts';
import { isOfFile } from '../../../verifier/archive/failure.ts';
import { compareKeys } from '../../../verifier/archive/key.ts';
import { readFailure } from './failure.ts';
import { INCOMING } from './incoming.ts';

/** Number of names that are read from a folder at a time. */
const NAMES_AT_ONCE = 1000;

/**
 * Yields all files below `root` whose key begins with `prefix`, in key order. Only one folder for each level is in
 * memory.
 * @param onUnlisted see `Archive.list`.
 */
export function listFolder(root: string, prefix: string, onUnlisted?: Unlisted): AsyncGenerator<StoredObject> {
  return walk(root, '', prefix, onUnlisted);
}

async function* walk(
  root: string,
  parent: string,
  prefix: string,
  onUnlisted: Unlisted | undefined,
): AsyncGenerator<StoredObject> {
  const names = await namesIn(root, parent, onUnlisted);
  for (const name of names.sort(compareKeys)) {
    const key = parent + name;
    if (key === `${INCOMING}/`) continue;
    if (key.endsWith('/')) {
      if (key.startsWith(prefix) || prefix.startsWith(key)) yield* walk(root, key, prefix, onUnlisted);
    } else if (key.startsWith(prefix)) {
      yield await describe(join(root, key), key);
    }
  }
}

/**
 * Returns the names in a folder. Names of folders end with a slash, so that they sort where their keys do. Only names
 * are kept, because a run of many streams has all its files in one folder. An unreadable root is an error; an
 * unreadable folder below it is reported, and the others are still listed.
 */
async function namesIn(root: string, parent: string, onUnlisted: Unlisted | undefined): Promise<string[]> {
  const names: string[] = [];
  try {
    const folder = await opendir(join(root, parent), { bufferSize: NAMES_AT_ONCE });
    for await (const entry of folder) names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  } catch (error) {
    if (parent === '' || !isOfFile(error)) throw error;
    if (onUnlisted === undefined) throw readFailure(error, parent);
    onUnlisted(parent, messageOf(error));
  }
  return names;
}

async function describe(path: string, key: string): Promise<StoredObject> {
  // A name that is not UTF-8 cannot be looked up by its decoded text.
  const stats = await lstat(path).catch(() => null);
  if (stats === null) return { key, bytes: 0, irregular: 'unreadable' };
  if (stats.isSymbolicLink()) return { key, bytes: stats.size, irregular: 'link' };
  if (!stats.isFile()) return { key, bytes: stats.size, irregular: 'special' };
  return { key, bytes: stats.size };
}
