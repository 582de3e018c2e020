import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { DomainError } from '../errors.ts';
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from './enums.ts';

/**
 * Cost of scrypt by the OWASP Password Storage Cheat Sheet: N = 2^17, r = 8, p = 1; 128 MiB and a quarter of a second.
 */
const COST = { log2N: 17, r: 8, p: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Hashes a password for storage: `scrypt$17$8$1$SALT$HASH`, the last two in base64url. */
export async function hashPassword(password: string, cost = COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, cost);
  return ['scrypt', cost.log2N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/**
 * Reports whether a password matches the stored hash.
 * @param stored null if there is no account: the result is false after an equally long time.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [name, log2N, r, p, salt = '', hash = ''] = (stored ?? NOBODY).split('$');
  if (name !== 'scrypt') throw new Error('a password is stored in an unknown format');
  const cost = { log2N: Number(log2N), r: Number(r), p: Number(p) };
  const expected = Buffer.from(hash, 'base64url');
  const derived = await derive(password, Buffer.from(salt, 'base64url'), cost);
  return derived.length === expected.length && timingSafeEqual(derived, expected) && stored !== null;
}

/** Hash with the cost of a real one, for a missing account. */
const NOBODY = `scrypt$${COST.log2N}$${COST.r}$${COST.p}$${Buffer.alloc(SALT_BYTES).toString('base64url')}$${Buffer.alloc(HASH_BYTES).toString('base64url')}`;

const scryptKey = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

function derive(password: string, salt: Buffer, { log2N, r, p }: typeof COST): Promise<Buffer> {
  const N = 2 ** log2N;
  // Normalizes the password, so that composed and decomposed letters are equal (RFC 8265 section 4.2).
  const text = password.normalize('NFC');
  return scryptKey(text, salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r });
}

/** Hashing and checking of passwords. Each call runs in a place of the `HashQueue`. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** Checks a password as `isPassword` does. */
  matches(password: string, stored: string | null): Promise<boolean>;
}

export const PASSWORDS: Passwords = { hash: hashPassword, matches: isPassword };

/** Minimum length of a name or address that must not occur in the password; shorter ones occur in many words. */
const SHORTEST_OWN = 3;

/**
 * Common passwords of sufficient length, from lists of leaked ones: keyboard rows, series, and single words and
 * phrases.
 */
const COMMON = new Set(
  `123456789abc 123456789abcd 1234567890abc 0987654321abc 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1q2w3e4r5t6y 1q2w3e4r5t6y7u8i q1w2e3r4t5y6
  qazwsxedcrfv zaq12wsxcde3 qwertyuiop qwertyuiopasdf qwertyuiopasdfghjkl asdfghjklzxcvbnm zxcvbnmasdfghjkl qwertyasdfgh
  qwertyuiopzxcvbnm qwertzuiopasdf azertyuiopqsdf abcdefghijkl abcdefghijklm abcdefghijklmnop abcdefghijklmnopqrstuvwxyz
  password passwordpassword mypassword thisismypassword thepassword passw0rd newpassword changeme changemenow changeit
  letmein letmeinnow letmeinplease welcome welcometomylife administrator adminadmin administrador superuser rootroot
  iloveyou iloveyousomuch iloveyouforever trustnoone correcthorsebatterystaple correcthorsebattery sunshine football
  baseball princess superman batman michaeljackson christopher manchesterunited liverpool chelsea barcelona qwerty test
  testtest secret topsecret mysecret passwort geheim motdepasse contrasena default temporary evidence evidenceplatform`.split(
    /\s+/,
  ),
);

/** Letters that people replace with digits and signs. */
const WRITTEN_AS: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};

/**
 * Refuses a password that an attacker would try early.
 * @param own name and e-mail address of the person.
 * @throws DomainError `weak_password` with the reason.
 */
export function refuseWeak(password: string, own: readonly string[]): void {
  const { length } = [...password];
  const lower = password.normalize('NFC').toLowerCase();
  if (length < SHORTEST_PASSWORD || length > LONGEST_PASSWORD || isOwn(lower, own) || new Set(lower).size < 5)
    throw weak(
      `a password must have ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters, at least five of them different, and must not contain your name or e-mail address`,
    );
  if (isRepeated(lower)) throw weak('this password repeats a short text; choose another one');
  if (isCommon(lower)) throw weak('this password is too common; choose another one');
}

function weak(message: string): DomainError {
  return new DomainError('weak_password', message);
}

/** Reports whether the password contains a name or an address, or the part of an address before its `@`. */
function isOwn(lower: string, own: readonly string[]): boolean {
  const words = own.flatMap((word) => [word, word.replace(/@[^@]*$/, '')]);
  return words.some((word) => word.length >= SHORTEST_OWN && lower.includes(word.toLowerCase()));
}

/**
 * Reports whether the password repeats a text that would be too short by itself; the last repetition may be incomplete.
 */
function isRepeated(lower: string): boolean {
  const most = Math.min(SHORTEST_PASSWORD - 1, Math.floor(lower.length / 2));
  for (let period = 1; period <= most; period++) if (lower.slice(period) === lower.slice(0, -period)) return true;
  return false;
}

/** Reports whether the password is common, ignoring signs between characters, and digits and signs at the end. */
function isCommon(lower: string): boolean {
  const plain = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '');
  const asLetters = (text: string) => plain(text.replace(/[013457@$]/g, (sign) => WRITTEN_AS[sign] ?? sign));
  const head = lower.replace(/[^\p{L}]+$/u, '');
  return [plain(lower), plain(head), asLetters(lower), asLetters(head)].some(
    (text) => COMMON.has(text) || isSeries(text),
  );
}

/** Reports whether the text is a series of digits that go up or down by one, as on a keyboard. */
function isSeries(text: string): boolean {
  const up = '01234567890123456789'.repeat(12);
  return text.length >= SHORTEST_PASSWORD && (up.includes(text) || [...up].reverse().join('').includes(text));
}
