/** The limit of S3, and for the name of one file of nearly every disk. */
const MAX_KEY_BYTES = 1024;
const MAX_SEGMENT_BYTES = 255;

/**
 * Makes sure that a key is a relative path of ordinary parts on every store. A bad key is a defect in the program:
 * what comes from outside becomes a slug first.
 *
 * @throws TypeError
 */
export function checkKey(key: string): void {
  const flaw = keyFlaw(key);
  if (flaw !== undefined) throw new TypeError(`the archive key ${JSON.stringify(key)} ${flaw}`);
}

/** Reports whether a name that was found in a store is one that `checkKey` lets pass. */
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

/** Order of the UTF-8 bytes, which is that of S3; JavaScript's own differs beyond U+FFFF. */
export function compareKeys(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
