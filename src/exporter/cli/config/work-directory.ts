import { mkdtempSync, readdirSync, rmdirSync, rmSync, statfsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { EvidenceError, isSystemError, messageOf } from '../../../core/errors.ts';
import { formatBytes } from '../output/progress.ts';
import type { Config } from './config.ts';

const PREFIX = 'evidence-export-';
/** Refusals of the disk itself, whatever is written. */
const REFUSALS: Record<string, string> = {
  ENOSPC: 'is full',
  EDQUOT: "has reached this user's quota",
  EFBIG: 'takes no larger file',
  EROFS: 'is mounted read-only',
  EIO: 'is on a disk that fails',
  ENOENT: 'was taken away',
  EACCES: 'may no longer be used by this user',
  EPERM: 'may no longer be used by this user',
};
const NAME_ANOTHER = 'name another folder with --work-directory, work_directory in evidence.yaml, or TMPDIR';

/**
 * Carries work out with a folder for what is on its way into the archive or out of it, readable by this user alone. It
 * is gone afterwards, with those of processes that did not live to remove theirs.
 *
 * @param parent in which it is made.
 * @throws EvidenceError `config` where it cannot be made; `work-directory` when the disk refuses something later.
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
 * Bytes free for this user, in a folder in which another can be made, which is tried.
 * @throws EvidenceError `config` where none can.
 */
export function checkWorkDirectory(parent: string): number {
  rmdirSync(makeFolder(parent));
  return freeIn(parent);
}

/** Bytes free for this user. @throws EvidenceError `config` where the folder is gone. */
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
  ENOENT: 'there is no such folder',
  ENOTDIR: 'it is a file',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'it is on a disk that is mounted read-only',
  ENOSPC: 'its disk is full',
};

function unusable(error: unknown, parent: string): EvidenceError {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  // The folder itself was read before.
  const isInIt = code === 'ENOENT' && syscall === 'mkdtemp';
  const why = isInIt ? 'no folder can be made in it' : (WHY_UNUSABLE[code] ?? messageOf(error));
  return new EvidenceError('config', `the work directory ${parent} cannot be used: ${why}`, {
    nextStep: `Nothing was begun. See to that folder, or ${NAME_ANOTHER}.`,
    cause: error,
  });
}

/** The archive tells its own failures by itself, so what the system refused was refused here. */
function toRefusal(error: unknown, parent: string, path: string): unknown {
  if (!isSystemError(error)) return error;
  const why = REFUSALS[error.code ?? ''];
  // A file that is read without a name may lie anywhere.
  const isElsewhere = error.path === undefined ? error.syscall === 'read' : !error.path.startsWith(path);
  if (why === undefined || isElsewhere) return error;
  return new EvidenceError('work-directory', `the work directory ${parent} ${why} (${error.code})`, {
    nextStep: `What is archived stays. A stream takes about twice the bytes of its package there, for each of --concurrency. See to that folder, or ${NAME_ANOTHER}; then run the same command again.`,
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

/** The bytes of an entry in a package and in its bundle, together: more than twice those of the default contract. */
const BYTES_PER_ENTRY = 2048;

/** The room that an export has in the work directory, and may need there. */
interface Room {
  says: string;
  isShort: boolean;
}

/**
 * Reckons the room with so many bytes for each entry that the service states, for the largest streams that are on their
 * way at once. A period may need less.
 * @param free bytes.
 * @param counts of entries, one a stream; null where the service states none.
 */
export function reckonRoom(
  { workDirectory, source: { concurrency } }: Pick<Config, 'workDirectory' | 'source'>,
  free: number,
  counts: readonly (number | null)[],
): Room {
  const stated = counts.filter((count) => count !== null);
  const has = `${workDirectory} has ${formatBytes(free)} free`;
  if (counts.length === 0) return { says: `${has}; no stream in scope was listed`, isShort: false };
  if (stated.length === 0)
    return { says: `${has}; the service states no counts to tell how much is needed`, isShort: false };
  const largest = stated.toSorted((a, b) => b - a).slice(0, concurrency);
  const needed = largest.reduce((sum, count) => sum + count, 0) * BYTES_PER_ENTRY;
  const rule = `${BYTES_PER_ENTRY} bytes for each entry that the service states, ${concurrency} streams at a time`;
  return { says: `${has}; about ${formatBytes(needed)} may be needed (${rule})`, isShort: needed > free };
}

export const MORE_ROOM =
  'If that is too little, name a folder with more room with --work-directory or work_directory, or export fewer streams at a time with --concurrency.';
