import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newSerial } from '../../../../src/platform/agents/identity/certificates.ts';
import type { Revocation } from '../../../../src/platform/agents/identity/identity-rows.ts';
import {
  type KeyGeneration,
  makeKeyGeneration,
  openKeyGeneration,
} from '../../../../src/platform/agents/identity/key-generations.ts';
import { issueRevocationList } from '../../../../src/platform/agents/identity/revocation-list.ts';
import { SecretBox } from '../../../../src/platform/secrets.ts';
import { runToEnd } from '../../../support/process.ts';
import { DAY } from './issuing-place.ts';
import { ML_DSA_JUDGES } from './ml-dsa-judges.ts';

let keys: KeyGeneration;
let folder: string;
const now = new Date('2026-11-22T12:00:00.789Z');

beforeAll(async () => {
  const box = new SecretBox(randomBytes(32), 'agents/authorities');
  const validity = { notBefore: now, notAfter: new Date(now.getTime() + 3650 * DAY) };
  keys = openKeyGeneration(await makeKeyGeneration({ generation: 1, trustDomain: 'test', ...validity }, box), box);
  folder = await mkdtemp(join(tmpdir(), 'lists-'));
});

afterAll(() => rm(folder, { recursive: true }));

const revoked = (count: number, revokedAt = now): Revocation[] =>
  Array.from({ length: count }, () => ({ serial: newSerial(), revokedAt, reason: 'superseded' }));

const terms = (more: object = {}) => ({ revoked: [], number: 1n, now, seconds: 3600, ...more });

/** Returns openssl's text of a list, after openssl has verified its signature. */
async function read(list: Buffer): Promise<string> {
  await writeFile(join(folder, 'crl'), list);
  await writeFile(join(folder, 'ca'), keys.certificates.ecdsa.pem);
  const words = ['crl', '-inform', 'DER', '-in', 'crl', '-CAfile', 'ca', '-noout', '-text'];
  const { stdout, stderr } = await runToEnd('openssl', words, { cwd: folder });
  expect(stderr).toContain('verify OK');
  return stdout;
}

test.each([0, 1, 3, 10_000])('openssl reads a list of %i certificates', async (count) => {
  const named = revoked(count);
  const text = await read(await issueRevocationList(keys.certificates.ecdsa, terms({ revoked: named })));
  const serials = [...text.matchAll(/Serial Number: ([0-9A-F]+)/g)].map(([, serial = '']) => serial.toLowerCase());
  expect(serials).toEqual(named.map(({ serial }) => serial));
  expect(text.includes('No Revoked Certificates')).toBe(count === 0);
});

test('so does each judge of ML-DSA', async () => {
  const list = await issueRevocationList(keys.certificates.ml_dsa_65, terms({ revoked: revoked(100) }));
  for (const judge of ML_DSA_JUDGES)
    expect(await judge.isSigned(list, keys.certificates.ml_dsa_65.pem), judge.name).toBe(true);
});

test.each([1n, 127n, 128n, 255n, 256n, 1_795_348_800_789n, 2n ** 158n])('its number is %i', async (number) => {
  const text = await read(await issueRevocationList(keys.certificates.ecdsa, terms({ number })));
  const [, stated = ''] = /CRL Number:\s+(\S+)/.exec(text) ?? [];
  expect(BigInt(stated)).toBe(number);
});

test.each([
  ['2049-12-31T23:59:59.999Z', 'Dec 31 23:59:59 2049 GMT'],
  ['2050-01-01T00:00:00.000Z', 'Jan  1 00:00:00 2050 GMT'],
])('a time of %s is read as %s', async (time, words) => {
  const at = new Date(time);
  const text = await read(
    await issueRevocationList(keys.certificates.ecdsa, terms({ revoked: revoked(1, at), now: at })),
  );
  expect(text).toContain(`Last Update: ${words}`);
  expect(text).toContain(`Revocation Date: ${words}`);
});
