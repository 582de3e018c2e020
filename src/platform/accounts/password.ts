import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Slots } from '../../core/parallel.ts';
import { DomainError } from '../errors.ts';
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from './enums.ts';

/** OWASP Password Storage Cheat Sheet: N = 2^17, r = 8, p = 1; 128 MiB and a quarter of a second. */
const COST = { log2N: 17, r: 8, p: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** At once: each of them takes a thread that file system and DNS need too, and its memory. */
const AT_ONCE = 2;

/** Hashes a password for storage: `scrypt$17$8$1$SALT$HASH`, the last two in base64url. */
export async function hashPassword(password: string, cost = COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, cost);
  return ['scrypt', cost.log2N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/**
 * True if a password is the stored one.
 * @param stored null where there is nobody: it takes as long as for somebody, and is false.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [name, log2N, r, p, salt = '', hash = ''] = (stored ?? NOBODY).split('$');
  if (name !== 'scrypt') throw new Error('a password is stored in a form that is not known');
  const cost = { log2N: Number(log2N), r: Number(r), p: Number(p) };
  const expected = Buffer.from(hash, 'base64url');
  const derived = await derive(password, Buffer.from(salt, 'base64url'), cost);
  return derived.length === expected.length && timingSafeEqual(derived, expected) && stored !== null;
}

/** Costs what a password costs. */
const NOBODY = `scrypt$${COST.log2N}$${COST.r}$${COST.p}$${Buffer.alloc(SALT_BYTES).toString('base64url')}$${Buffer.alloc(HASH_BYTES).toString('base64url')}`;

const SLOTS = new Slots(AT_ONCE);
const scryptKey = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

function derive(password: string, salt: Buffer, { log2N, r, p }: typeof COST): Promise<Buffer> {
  const N = 2 ** log2N;
  // One text, however its letters are put together (RFC 8265, section 4.2).
  const text = password.normalize('NFC');
  return SLOTS.run(() => scryptKey(text, salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r }));
}

/** Stores and compares passwords. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** As `isPassword`. */
  matches(password: string, stored: string | null): Promise<boolean>;
}

export const PASSWORDS: Passwords = { hash: hashPassword, matches: isPassword };

/** Shorter names and addresses are in many words. */
const SHORTEST_OWN = 3;

/** The beginning of lists of leaked passwords, of those that are long enough: rows of a keyboard, series, and sentences of one word. */
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

/** Letters that people write as figures and signs. */
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
 * Refuses a password that somebody would try early.
 * @param own what the person is called, and their e-mail address.
 * @throws DomainError `weak_password` with what is wrong.
 */
export function refuseWeak(password: string, own: readonly string[]): void {
  const { length } = [...password];
  const lower = password.normalize('NFC').toLowerCase();
  if (length < SHORTEST_PASSWORD || length > LONGEST_PASSWORD || isOwn(lower, own) || new Set(lower).size < 5)
    throw weak(
      `a password has ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters, at least five different ones, and neither your name nor your address in it`,
    );
  if (isRepeated(lower)) throw weak('this password is one short text again and again; take another one');
  if (isCommon(lower)) throw weak('this password is one of those that are tried first; take another one');
}

function weak(message: string): DomainError {
  return new DomainError('weak_password', message);
}

/** Also with the part of an address before its `@`. */
function isOwn(lower: string, own: readonly string[]): boolean {
  const words = own.flatMap((word) => [word, word.replace(/@[^@]*$/, '')]);
  return words.some((word) => word.length >= SHORTEST_OWN && lower.includes(word.toLowerCase()));
}

/** Reports whether it is a text again and again that would be too short by itself; the last time may break off. */
function isRepeated(lower: string): boolean {
  const most = Math.min(SHORTEST_PASSWORD - 1, Math.floor(lower.length / 2));
  for (let period = 1; period <= most; period++) if (lower.slice(period) === lower.slice(0, -period)) return true;
  return false;
}

/** Whatever signs stand between, and whatever figures and signs stand at its end. */
function isCommon(lower: string): boolean {
  const plain = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '');
  const asLetters = (text: string) => plain(text.replace(/[013457@$]/g, (sign) => WRITTEN_AS[sign] ?? sign));
  const head = lower.replace(/[^\p{L}]+$/u, '');
  return [plain(lower), plain(head), asLetters(lower), asLetters(head)].some(
    (text) => COMMON.has(text) || isSeries(text),
  );
}

/** Figures that go up or down by one, as on a keyboard. */
function isSeries(text: string): boolean {
  const up = '01234567890123456789'.repeat(12);
  return text.length >= SHORTEST_PASSWORD && (up.includes(text) || [...up].reverse().join('').includes(text));
}
