import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Archive } from '../archive/archive.ts';
import { openDirectoryArchive } from '../archive/directory.ts';
import { EvidenceError } from '../errors.ts';

/**
 * The archive of a URL or path.
 * @param create whether it may be made; otherwise one that is not there is `null`.
 */
export async function openArchive(url: string, directory: string, create: boolean): Promise<Archive | null> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(url) && !url.startsWith('file://'))
    throw new EvidenceError('config', `${url}: this version keeps archives in directories only`, {
      nextStep: 'Give a directory as the archive.',
    });
  const path = resolve(directory, url.replace(/^file:\/\//, ''));
  if (!create && !(await isDirectory(path))) return null;
  return openDirectoryArchive(path, { create });
}

export async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
