import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

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

let running = 0;
const waiting: (() => void)[] = [];

async function derive(password: string, salt: Buffer, { log2N, r, p }: typeof COST): Promise<Buffer> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running++;
  try {
    const N = 2 ** log2N;
    // One text, however its letters are put together (RFC 8265, section 4.2).
    return await new Promise((resolve, reject) =>
      scrypt(password.normalize('NFC'), salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
        error === null ? resolve(key) : reject(error),
      ),
    );
  } finally {
    running--;
    waiting.shift()?.();
  }
}

/** Stores and compares passwords. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** As `isPassword`. */
  matches(password: string, stored: string | null): Promise<boolean>;
}

export const PASSWORDS: Passwords = { hash: hashPassword, matches: isPassword };
