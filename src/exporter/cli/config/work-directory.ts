import { mkdtempSync, readdirSync, rmdirSync, rmSync, statfsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { EvidenceError, isSystemError, messageOf } from '../../../core/errors.ts';
import { formatBytes } from '../output/progress.ts';
import type { Config } from './config.ts';

const PREFIX = 'evidence-export-';
/** Errors of the disk, whatever is written. */
const REFUSALS: Record<string, string> = {
  ENOSPC: 'is full',
  EDQUOT: "is at this user's quota",
  EFBIG: 'does not accept a larger file',
  EROFS: 'is mounted read-only',
  EIO: 'is on a failing disk',
  ENOENT: 'was removed',
  EACCES: 'is no longer accessible to this user',
  EPERM: 'is no longer accessible to this user',
};
const NAME_ANOTHER = 'name another folder with --work-directory, work_directory in evidence.yaml, or TMPDIR';

/**
 * Runs work with a folder for files on their way to or from the archive, readable by this user only. The folder is
 * removed afterwards, and so are folders that dead processes left.
 *
 * @param parent folder in which it is created.
 * @throws EvidenceError `config` if the folder cannot be created; `work-directory` if the disk fails later.
 */
export async function withWorkDirectory<T>(parent: string, work: (path: string) => Promise<T>): Promise<T> {
  const path = makeFolder(parent);
  try {
    return await work(path);
  } catch (error) {
    throw toRefusal(error, parent, path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

/**
 * Checks that a folder can be created in the parent, and returns the bytes free for this user.
 * @throws EvidenceError `config` if no folder can be created.
 */
export function checkWorkDirectory(parent: string): number {
  rmdirSync(makeFolder(parent));
  return freeIn(parent);
}

/** Returns the bytes free for this user. @throws EvidenceError `config` if the folder no longer exists. */
export function freeIn(parent: string): number {
  try {
    const { bavail, bsize } = statfsSync(parent);
    return bavail * bsize;
  } catch (error) {
    throw unusable(error, parent);
  }
}

function makeFolder(parent: string): string {
  const host = hostname().replace(/[^A-Za-z0-9]/g, '_');
  try {
    for (const name of readdirSync(parent)) {
      const owner = new RegExp(`^${PREFIX}${host}-(\\d+)-`).exec(name)?.[1];
      if (owner !== undefined && !isAlive(Number(owner))) rmSync(join(parent, name), { recursive: true, force: true });
    }
    return mkdtempSync(join(parent, `${PREFIX}${host}-${process.pid}-`));
  } catch (error) {
    throw unusable(error, parent);
  }
}

const WHY_UNUSABLE: Record<string, string> = {
  ENOENT: 'the folder does not exist',
  ENOTDIR: 'it is a file',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'its disk is mounted read-only',
  ENOSPC: 'its disk is full',
};

function unusable(error: unknown, parent: string): EvidenceError {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  // The parent folder was read before, so it exists.
  const isInIt = code === 'ENOENT' && syscall === 'mkdtemp';
  const why = isInIt ? 'no folder can be created in it' : (WHY_UNUSABLE[code] ?? messageOf(error));
  return new EvidenceError('config', `the work directory ${parent} cannot be used: ${why}`, {
    nextStep: `Nothing was started. Fix that folder, or ${NAME_ANOTHER}.`,
    cause: error,
  });
}

/**
 * Returns the error for a refusal of the disk. The archive reports its failures itself, so system errors come from the
 * work directory.
 */
function toRefusal(error: unknown, parent: string, path: string): unknown {
  if (!isSystemError(error)) return error;
  const why = REFUSALS[error.code ?? ''];
  // A failed read without a path may concern any file.
  const isElsewhere = error.path === undefined ? error.syscall === 'read' : !error.path.startsWith(path);
  if (why === undefined || isElsewhere) return error;
  return new EvidenceError('work-directory', `the work directory ${parent} ${why} (${error.code})`, {
    nextStep: `Archived bundles are kept. Each of the --concurrency streams needs about twice the size of its package there. Fix that folder, or ${NAME_ANOTHER}; then run the same command again.`,
    cause: error,
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Upper estimate of the bytes of an entry in a package and in its bundle together: more than twice those of the default
 * contract.
 */
const BYTES_PER_ENTRY = 2048;

/**
 * Estimates the space from the number of entries that the service states, for the largest streams that are exported
 * concurrently. A period may need less.
 * @param free bytes.
 * @param counts of entries, one for each stream; null if the service states none.
 */
export function reckonRoom(
  { workDirectory, source: { concurrency } }: Pick<Config, 'workDirectory' | 'source'>,
  free: number,
  counts: readonly (number | null)[],
) {
  const stated = counts.filter((count) => count !== null);
  const has = `${workDirectory} has ${formatBytes(free)} free`;
  if (counts.length === 0) return { says: `${has}; no streams are in scope`, isShort: false };
  if (stated.length === 0)
    return { says: `${has}; the required space is unknown because the service states no counts`, isShort: false };
  const largest = stated.toSorted((a, b) => b - a).slice(0, concurrency);
  const needed = largest.reduce((sum, count) => sum + count, 0) * BYTES_PER_ENTRY;
  const rule = `${BYTES_PER_ENTRY} bytes per entry, ${concurrency} streams at a time`;
  return { says: `${has}; about ${formatBytes(needed)} may be needed (${rule})`, isShort: needed > free };
}

export const MORE_ROOM =
  'If this is too little, set --work-directory or work_directory to a folder with more space, or export fewer streams at a time with --concurrency.';
