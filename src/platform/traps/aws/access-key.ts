import { randomBytes, randomInt } from 'node:crypto';
import { isCanaryAccount } from './canary-accounts.ts';

export const ACCOUNT_ID = /^\d{12}$/;
/** A long-term access key; those of sessions begin with ASIA. */
export const ACCESS_KEY_ID = /^AKIA[A-Z0-9]{16}$/;
export const SECRET_ACCESS_KEY = /^[A-Za-z0-9/+]{40}$/;

/** RFC 4648 section 6. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const ID_BITS = 80n;
/** Ids since 2019 begin with a bit that is set, and go on with the account in forty bits. */
const ACCOUNT_BITS = 40n;
const RANDOM_BITS = ID_BITS - 1n - ACCOUNT_BITS;

/** An id as AWS makes them for an account: anybody can decode the account from it. @param prefix AKIA or AIDA. */
export function newAwsId(prefix: string, accountId: string): string {
  const random = BigInt(`0x${randomBytes(10).toString('hex')}`) % 2n ** RANDOM_BITS;
  let bits = (((1n << ACCOUNT_BITS) | BigInt(accountId)) << RANDOM_BITS) | random;
  let text = '';
  for (let at = 0; at < 16; at++) {
    text = BASE32.charAt(Number(bits & 31n)) + text;
    bits >>= 5n;
  }
  return prefix + text;
}

/** The account that an access key id is of; null for one of before 2019, which does not tell. */
export function accountOf(accessKeyId: string): string | null {
  let bits = 0n;
  for (const letter of accessKeyId.slice(4)) {
    const value = BASE32.indexOf(letter);
    if (value < 0) return null;
    bits = (bits << 5n) | BigInt(value);
  }
  const head = bits >> RANDOM_BITS;
  if (head >> ACCOUNT_BITS !== 1n) return null;
  const account = (head & (2n ** ACCOUNT_BITS - 1n)).toString().padStart(12, '0');
  return ACCOUNT_ID.test(account) ? account : null;
}

/** Forty characters with letters of both kinds and digits, no sign at the end: scanners look for such. */
export function newSecretAccessKey(): string {
  for (;;) {
    const secret = randomBytes(30).toString('base64');
    if (/[a-z]/.test(secret) && /[A-Z]/.test(secret) && /\d/.test(secret) && /\w$/.test(secret)) return secret;
  }
}

/** An account id that no list has. */
export function newAccountId(): string {
  for (;;) {
    const accountId = String(randomInt(10 ** 11, 10 ** 12 - 1) % 10 ** 12).padStart(12, '0');
    if (!isCanaryAccount(accountId)) return accountId;
  }
}
