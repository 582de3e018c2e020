import { type PathName, toPathName } from '../report/line.ts';

/**
 * Path as the operating system knows it, with one character for each byte. Names need not be UTF-8, and these strings
 * compare like their bytes.
 */
export type BytePath = string;

export function toBytePath(bytes: Buffer | string): BytePath {
  return Buffer.from(bytes as string).toString('latin1');
}

/** Returns the path for calls of `node:fs`. */
export function bytesOf(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1');
}

/** Returns the path in the form of a line. */
export function pathName(path: BytePath): PathName {
  return toPathName(bytesOf(path));
}
