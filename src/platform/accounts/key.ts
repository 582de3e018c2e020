import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 8;
/** Length of the secret: 43 characters of base 62 hold 256 bits. */
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^sk_([0-9A-Za-z]{${ID_LENGTH}})_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

export interface NewKey {
  /** Public part, which identifies the key. */
  id: string;
  /** Text of the key, which is shown once and never stored. */
  text: string;
  /** Digest that is stored. */
  sha256: string;
}

/** Returns a new API key: `sk_<8 id>_<43 secret><6 checksum>`. */
export function createKey(): NewKey {
  const id = randomText(ID_LENGTH);
  const body = `sk_${id}_${randomText(SECRET_LENGTH)}`;
  const text = body + checksum(body);
  return { id, text, sha256: keyDigest(text) };
}

/**
 * Returns the id in a presented key; null if the text cannot be a key. The checksum catches a mistyped key before the
 * database is queried.
 */
export function keyIdOf(text: string): string | null {
  const id = SHAPE.exec(text)?.[1];
  if (id === undefined) return null;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH) ? id : null;
}

/** Returns a key that was made elsewhere; null if the text cannot be a key. */
export function toKey(text: string): NewKey | null {
  const id = keyIdOf(text);
  return id === null ? null : { id, text, sha256: keyDigest(text) };
}

/** Returns the digest of a key. With 256 random bits, guessing is infeasible, so the hash need not be slow. */
export function keyDigest(text: string): string {
  return hash('sha256', text, 'hex');
}

function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    digits = `${ALPHABET[rest % ALPHABET.length]}${digits}`;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
