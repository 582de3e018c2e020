import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import {
  accountOf,
  isCanaryAccount,
  newAccountId,
  newAwsId,
  newSecretAccessKey,
} from '../../../src/platform/traps/aws/access-key.ts';
import { ACCESS_KEY_ID, SECRET_ACCESS_KEY } from '../../../src/platform/traps/enums.ts';

/** Decoder of ids as its first publication has it, in another language. */
const DECODER = `
import base64, sys
for key in sys.argv[1:]:
    head = int.from_bytes(base64.b32decode(key[4:])[:6], 'big')
    print('{:012d}'.format((head & 0x7fffffffff80) >> 7))
`;

describe('an access key id', () => {
  test('tells its account to a decoder that is not ours', () => {
    const accounts = ['000000000001', '123456789012', '999999999999', ...Array.from({ length: 50 }, newAccountId)];
    const ids = accounts.map((account) => newAwsId('AKIA', account));
    const decoded = execFileSync('python3', ['-c', DECODER, ...ids], { encoding: 'utf8' })
      .trim()
      .split('\n');
    expect(decoded).toEqual(accounts);
    expect(ids.map(accountOf)).toEqual(accounts);
    for (const id of ids) expect(id).toMatch(ACCESS_KEY_ID);
  });

  test('of one account is another one each time', () => {
    expect(new Set(Array.from({ length: 1000 }, () => newAwsId('AKIA', '123456789012'))).size).toBe(1000);
  });

  // The last id is from before 2019 and reveals no account.
  test.each([
    ['AKIASP2TPHJSQH3FJRUX', '171436882533'],
    ['AKIAIOSFODNN7EXAMPLE', null],
  ])('%s is of the account %s', (id, account) => expect(accountOf(id)).toBe(account));
});

test('scanners know the account of a key of canarytokens.org, and none that is drawn here', () => {
  expect(isCanaryAccount('171436882533')).toBe(true);
  expect(Array.from({ length: 10_000 }, newAccountId).filter(isCanaryAccount)).toEqual([]);
});

test('a secret has forty characters, of every kind that scanners ask for', () => {
  for (let count = 0; count < 1000; count++) expect(newSecretAccessKey()).toMatch(SECRET_ACCESS_KEY);
});
