import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { isSystemError } from '../../core/errors.ts';

/** Files that a crash left half written. */
export const HALF_WRITTEN = /^\.sensor-\d+\.tmp$/;

/**
 * Puts a file in the place of another: after a crash there is the one or the other, whole. Its owner alone may read it.
 */
export function replaceFile(folder: string, name: string, text: string): void {
  const half = writeHalf(folder, text);
  renameSync(half, join(folder, name));
  flushFolder(folder);
}

/** Makes a file that is not there yet. @returns false where it is there. */
export function claimFile(folder: string, name: string, text: string): boolean {
  const half = writeHalf(folder, text);
  try {
    linkSync(half, join(folder, name));
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(half);
  }
  flushFolder(folder);
  return true;
}

/** Flushes a folder, so that files added to and removed from it stay so after a crash. */
export function flushFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function writeHalf(folder: string, text: string): string {
  const half = join(folder, `.sensor-${process.pid}.tmp`);
  rmSync(half, { force: true });
  writeFileSync(half, text, { mode: 0o600, flag: 'wx', flush: true });
  return half;
}
