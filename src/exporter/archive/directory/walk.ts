import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../core/errors.ts';
import type { StoredObject, Unlisted } from '../../../verifier/archive/archive.ts';
import { isOfFile, readFailure } from '../../../verifier/archive/failure.ts';
import { compareKeys } from '../../../verifier/archive/key.ts';
import { INCOMING } from './incoming.ts';

/** Names that are read from a folder at once. */
const NAMES_AT_ONCE = 1000;

/**
 * All files below `root` whose key begins with `prefix`, in key order, one folder in memory at a time per level.
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
 * Returns the names in a folder, those of folders with a slash at their end: with it a folder sorts where the keys inside
 * it do. Nothing else is kept of each, because a run of many streams has all of their files in one folder. Without the root
 * there is no archive to list; one closed folder below it says nothing of the others.
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
  // A name that is not UTF-8 cannot be looked up by the text it was decoded to.
  const stats = await lstat(path).catch(() => null);
  if (stats === null) return { key, bytes: 0, irregular: 'unreadable' };
  if (stats.isSymbolicLink()) return { key, bytes: stats.size, irregular: 'link' };
  if (!stats.isFile()) return { key, bytes: stats.size, irregular: 'special' };
  return { key, bytes: stats.size };
}
