import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../core/errors.ts';
import type { StoredObject, Unlisted } from '../../../verifier/archive/archive.ts';
import { isOfFile, readFailure } from '../../../verifier/archive/failure.ts';
import { compareKeys } from '../../../verifier/archive/key.ts';
import { INCOMING } from './incoming.ts';

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
  const found = await namesIn(root, parent, onUnlisted);
  const keyed = found.map((entry) => ({ entry, key: `${parent}${entry.name}${entry.isDirectory() ? '/' : ''}` }));
  // With its slash a folder sorts where the keys inside it do.
  keyed.sort((one, other) => compareKeys(one.key, other.key));
  for (const { entry, key } of keyed) {
    if (key === `${INCOMING}/`) continue;
    if (entry.isDirectory()) {
      if (key.startsWith(prefix) || prefix.startsWith(key)) yield* walk(root, key, prefix, onUnlisted);
    } else if (key.startsWith(prefix)) {
      yield await describe(join(root, key), key, entry);
    }
  }
}

/** Without the root there is no archive to list; one closed folder below it says nothing of the others. */
async function namesIn(root: string, parent: string, onUnlisted: Unlisted | undefined): Promise<Dirent[]> {
  try {
    return await readdir(join(root, parent), { withFileTypes: true });
  } catch (error) {
    if (parent === '' || !isOfFile(error)) throw error;
    if (onUnlisted === undefined) throw readFailure(error, parent);
    onUnlisted(parent, messageOf(error));
    return [];
  }
}

async function describe(path: string, key: string, entry: Dirent): Promise<StoredObject> {
  // A name that is not UTF-8 cannot be looked up by the text it was decoded to.
  const bytes = await lstat(path).then(
    (stats) => stats.size,
    () => undefined,
  );
  if (bytes === undefined) return { key, bytes: 0, irregular: 'unreadable' };
  if (entry.isSymbolicLink()) return { key, bytes, irregular: 'link' };
  if (!entry.isFile()) return { key, bytes, irregular: 'special' };
  return { key, bytes };
}
