import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readdir, rmdir, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import { hasCode } from '../../../verifier/archive/failure.ts';

/** Folder for unfinished files. It begins with a dot, so no key can refer to it. */
export const INCOMING = '.incoming';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Opens a new file on the same disk as the objects, under a name that identifies the process that writes it. */
export async function openIncoming(root: string) {
  const folder = join(root, INCOMING);
  const path = join(folder, `${hostName()}-${process.pid}-${randomBytes(8).toString('hex')}`);
  for (let attempt = 1; ; attempt += 1) {
    await mkdir(folder).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
    if (!(await lstat(folder).catch(() => null))?.isDirectory()) await refuseLink(folder);
    try {
      return { path, handle: await open(path, 'wx', 0o600) };
    } catch (error) {
      // Another process that is closing its archive may have removed the empty folder.
      if (!hasCode(error, 'ENOENT') || attempt === 10) throw error;
    }
  }
}

/**
 * Removes files that dead processes of this machine left, and files older than a day. Until then, a file of another
 * machine may still be in use.
 */
export async function sweepIncoming(root: string, now: number): Promise<void> {
  const folder = join(root, INCOMING);
  await refuseLink(folder);
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const stats = await lstat(path).catch(() => null);
    if (stats === null || !stats.isFile()) continue;
    if (now - stats.mtimeMs > DAY_MS || isLeftover(name, stats.mtimeMs)) await unlink(path).catch(ignoreMissing);
  }
}

/** Removes the folder if it is empty. */
export async function closeIncoming(root: string): Promise<void> {
  await rmdir(join(root, INCOMING)).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EROFS', 'EACCES', 'EPERM')) throw error;
  });
}

function isLeftover(name: string, modifiedMs: number): boolean {
  const match = /^(.+)-(\d+)-[0-9a-f]{16}$/.exec(name);
  if (match === null || match[1] !== hostName()) return false;
  const pid = Number(match[2]);
  // After a container restart, a dead process may have had the same process id.
  if (pid === process.pid) return modifiedMs < performance.timeOrigin;
  return !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}

function hostName(): string {
  return hostname().replace(/[^A-Za-z0-9.]/g, '_');
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  });
}

async function refuseLink(folder: string): Promise<void> {
  const stats = await lstat(folder).catch(() => null);
  if (stats === null || stats.isDirectory()) return;
  throw new EvidenceError('archive', `${folder} is not a folder: files would be written outside the archive`, {
    nextStep: 'Find out who put it there and remove it.',
  });
}

function ignoreMissing(error: unknown): void {
  if (!hasCode(error, 'ENOENT')) throw error;
}
