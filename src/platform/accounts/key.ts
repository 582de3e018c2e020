import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 8;
/** 43 characters of base 62 hold 256 bits. */
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^sk_([0-9A-Za-z]{${ID_LENGTH}})_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

export interface NewKey {
  /** The public part, by which the key is found and named. */
  id: string;
  /** The whole key; shown once, never stored. */
  text: string;
  /** The stored digest of the key. */
  sha256: string;
}

/** A new API key: `sk_<8 id>_<43 secret><6 checksum>`. */
export function createKey(): NewKey {
  const id = randomText(ID_LENGTH);
  const body = `sk_${id}_${randomText(SECRET_LENGTH)}`;
  const text = body + checksum(body);
  return { id, text, sha256: keyDigest(text) };
}

/**
 * The id in what a caller presents as a key, or null when it cannot be one. The checksum catches a mistyped key before
 * the database is asked.
 */
export function keyIdOf(text: string): string | null {
  const id = SHAPE.exec(text)?.[1];
  if (id === undefined) return null;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH) ? id : null;
}

/** A key that somebody else made; null when it cannot be one. */
export function toKey(text: string): NewKey | null {
  const id = keyIdOf(text);
  return id === null ? null : { id, text, sha256: keyDigest(text) };
}

/** 256 random bits need no slow hash: there is nothing to guess. */
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
