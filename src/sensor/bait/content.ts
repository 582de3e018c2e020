import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { isSystemError } from '../../core/errors.ts';

const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOATIME;

/**
 * Returns the digest of a regular file, read without changing its access time; null if the file is not regular, too
 * large, or cannot be opened that way.
 */
export function plainDigestOf(file: string): { ino: string; sha256: string } | null {
  let fd: number;
  try {
    fd = openSync(file, READING);
  } catch (error) {
    if (isSystemError(error)) return null;
    throw error;
  }
  try {
    const stats = fstatSync(fd, { bigint: true });
    if (!stats.isFile() || stats.size > MOST_BYTES) return null;
    return { ino: `${stats.dev}:${stats.ino}`, sha256: hash('sha256', readFileSync(fd), 'hex') };
  } finally {
    closeSync(fd);
  }
}

/** Upper bound of the size of a trap. */
const MOST_BYTES = 2n ** 20n;

export function hasContent(file: string, content: string): boolean {
  return plainDigestOf(file)?.sha256 === hash('sha256', content, 'hex');
}
