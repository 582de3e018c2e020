import { type PathName, toPathName } from '../report/line.ts';

/**
 * A path as the operating system knows it: each character is one byte. Names need not be UTF-8, and such texts compare as
 * their bytes do.
 */
export type BytePath = string;

export function toBytePath(bytes: Buffer | string): BytePath {
  return Buffer.from(bytes as string).toString('latin1');
}

/** For the calls of `node:fs`. */
export function bytesOf(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1');
}

/** A path in a line. */
export function pathName(path: BytePath): PathName {
  return toPathName(bytesOf(path));
}
