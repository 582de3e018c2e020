import { compareBytes, utf8Bytes } from '../../core/bytes.ts';

/** Maximum length of a name: Windows stops at 260, most file systems at 255 per part. */
const MAX_NAME = 1024;

/**
 * Returns why a name inside a zip is dangerous to extract; undefined if it is not. Applies to files and, with their
 * trailing slash, to folders.
 */
export function whyUnsafe(name: string): string | undefined {
  if (name === '') return 'the name is empty';
  if (name.length > MAX_NAME) return 'the name is longer than a path may be';
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(name)) return 'the name contains control characters';
  if (name.includes('\\')) return 'the name contains a backslash, which Windows takes for a folder';
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) return 'the name is absolute';
  const segments = name.replace(/\/$/, '').split('/');
  if (segments.includes('..')) return 'the name leads out of the folder it is extracted to';
  if (segments.includes('.') || segments.includes('')) return 'the name has an empty or "." part';
  return undefined;
}

/** Returns the same key for two names that are one file on a disk that ignores letter case or Unicode normalization. */
export function collisionKey(name: string): string {
  return name.normalize('NFC').toUpperCase().normalize('NFC');
}

/**
 * Reports whether all of an auditor's tools read `path` the same way: `sha256sum -c` does not undo the percent-encoding
 * of RFC 8493, and unzip programs disagree on everything that is not ASCII.
 */
export function isPortablePath(path: string): boolean {
  return path
    .split('/')
    .every(
      (segment) => /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(segment) && !segment.endsWith('.') && segment.length <= 200,
    );
}

/** Compares UTF-8 bytes, so that the order is the same on every machine, whatever its locale. */
export function comparePaths(one: string, other: string): number {
  return compareBytes(utf8Bytes(one), utf8Bytes(other));
}
