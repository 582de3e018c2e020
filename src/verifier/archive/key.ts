/** Limits of S3 for a key, and of nearly every disk for the name of a file. */
const MAX_KEY_BYTES = 1024;
const MAX_SEGMENT_BYTES = 255;

/**
 * Checks that a key is a relative path of ordinary parts on every store. A bad key is a defect of the program, because
 * names from outside are converted to slugs first.
 *
 * @throws TypeError
 */
export function checkKey(key: string): void {
  const flaw = keyFlaw(key);
  if (flaw !== undefined) throw new TypeError(`the archive key ${JSON.stringify(key)} ${flaw}`);
}

/** Reports whether a name found in a store is one that `checkKey` accepts. */
export function isKey(name: string): boolean {
  return keyFlaw(name) === undefined;
}

function keyFlaw(key: string): string | undefined {
  if (!key.isWellFormed()) return 'is not Unicode text';
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) return `has more than ${MAX_KEY_BYTES} bytes`;
  if (/\p{Cc}/u.test(key)) return 'contains control characters';
  if (key.includes('\\')) return 'contains a backslash';
  for (const segment of key.split('/')) {
    if (segment === '') return 'has an empty part';
    if (segment.startsWith('.')) return 'has a part that begins with a dot';
    if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) return `has a part of more than ${MAX_SEGMENT_BYTES} bytes`;
  }
  return undefined;
}

/** Compares UTF-8 bytes, the order of S3; JavaScript's order differs beyond U+FFFF. */
export function compareKeys(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
