import { randomBytes, randomInt } from 'node:crypto';

export const ACCOUNT_ID = /^\d{12}$/;

/** Alphabet of RFC 4648 section 6. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const ID_BITS = 80n;
/** Size of the account number in an id. Ids since 2019 begin with a set bit, followed by the account in forty bits. */
const ACCOUNT_BITS = 40n;
const RANDOM_BITS = ID_BITS - 1n - ACCOUNT_BITS;

/**
 * Returns an id in the form that AWS gives to an account: anyone can decode the account from the id. @param prefix AKIA
 * or AIDA.
 */
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

/** Returns the account of an access key id; null for an id from before 2019, which does not contain the account. */
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

/** Returns forty characters with letters of both cases and digits, without a sign at the end, as scanners expect. */
export function newSecretAccessKey(): string {
  for (;;) {
    const secret = randomBytes(30).toString('base64');
    if (/[a-z]/.test(secret) && /[A-Z]/.test(secret) && /\d/.test(secret) && /\w$/.test(secret)) return secret;
  }
}

/** Returns an account id that is on no scanner's list. */
export function newAccountId(): string {
  for (;;) {
    const accountId = String(randomInt(10 ** 11, 10 ** 12 - 1) % 10 ** 12).padStart(12, '0');
    if (!isCanaryAccount(accountId)) return accountId;
  }
}

/**
 * Account ids that scanners report as traps: scanners decode the account from a key and never try the key. Taken from
 * the lists `thinkstCanaryList` (canarytokens.org) and `thinkstKnockoffsCanaryList` (similar services) of TruffleHog,
 * pkg/detectors/aws/access_keys/canary.go, as of version 3.90.
 */
const CANARYTOKENS = [
  '052310077262',
  '171436882533',
  '266735846894',
  '534261010715',
  '595918472158',
  '717712589309',
  '730335385048',
  '819147034852',
  '893192397702',
  '992382622183',
];
const LIKE_CANARYTOKENS = [
  '044858866125',
  '251535659677',
  '344043088457',
  '351906852752',
  '390477818340',
  '426127672474',
  '427150556519',
  '439872796651',
  '445142720921',
  '465867158099',
  '637958123769',
  '693412236332',
  '732624840810',
  '735421457923',
  '959235150393',
  '982842642351',
];

const KNOWN: ReadonlySet<string> = new Set([...CANARYTOKENS, ...LIKE_CANARYTOKENS]);

/** Reports whether scanners list an account as a trap. */
export function isCanaryAccount(accountId: string): boolean {
  return KNOWN.has(accountId);
}

/** Calls that only reveal whether a key works, and who owns the key. */
const VALIDATING = ['sts:GetCallerIdentity', 'sts:GetAccessKeyInfo'];

/** Returns the depth of a use that asked AWS for an action, given as `service:Action`. */
export function depthOfAwsAction(action: string | null): 'validated' | 'used' {
  return action !== null && VALIDATING.includes(action) ? 'validated' : 'used';
}
