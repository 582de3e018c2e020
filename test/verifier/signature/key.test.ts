import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { isEvidenceError } from '../../../src/core/errors.ts';
import { readSigningKey } from '../../../src/exporter/ledger/signing-key.ts';
import { readPublicKey, toPem } from '../../../src/verifier/signature/key.ts';
import { thrownBy } from '../../support/json.ts';
import { KINDS, makeKey } from '../../support/openssl-keys.ts';
import { run } from '../../support/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'signing-keys-'));
const text = (path: string) => readFileSync(path, 'utf8');
const PASSPHRASE = 'correct horse, schwieriges Pferd';

const keys = { ed25519: await makeKey(folder, 'a', 'ed25519'), 'ecdsa-p256': await makeKey(folder, 'b', 'ecdsa-p256') };
const encrypted = join(folder, 'encrypted');
await run(
  'openssl',
  ['pkcs8', '-topk8', '-in', keys.ed25519.file, '-out', encrypted, '-passout', `pass:${PASSPHRASE}`],
  folder,
);
const sec1 = join(folder, 'sec1');
await run('openssl', ['ec', '-in', keys['ecdsa-p256'].file, '-out', sec1], folder);
const legacy = join(folder, 'legacy');
await run(
  'openssl',
  ['ec', '-in', keys['ecdsa-p256'].file, '-aes128', '-out', legacy, '-passout', `pass:${PASSPHRASE}`],
  folder,
);
const rsa = await makeKey(folder, 'rsa', 'rsa');
const p384 = await makeKey(folder, 'p384', 'p384');

test.each(KINDS)('%s: the id is the SHA-256 of the public key in DER', (kind) => {
  expect(readSigningKey(text(keys[kind].file), null, 'k').id).toBe(keys[kind].id);
  const key = readPublicKey(text(keys[kind].publicFile), 'k');
  expect([key.id, toPem(key)]).toEqual([keys[kind].id, text(keys[kind].publicFile)]);
});

test.each([
  ['PKCS #8, encrypted', encrypted, keys.ed25519.id],
  ['SEC 1', sec1, keys['ecdsa-p256'].id],
  ['SEC 1, encrypted', legacy, keys['ecdsa-p256'].id],
])('%s is read', (_words, file, id) => {
  expect(readSigningKey(text(file), PASSPHRASE, 'k').id).toBe(id);
});

const REFUSED: [string, () => unknown, RegExp][] = [
  ['encrypted, no passphrase', () => readSigningKey(text(encrypted), null, 'k'), /k is encrypted, but no passphrase/],
  [
    'SEC 1 encrypted, no passphrase',
    () => readSigningKey(text(legacy), null, 'k'),
    /k is encrypted, but no passphrase/,
  ],
  ['encrypted, another passphrase', () => readSigningKey(text(encrypted), 'x', 'k'), /passphrase is wrong/],
  ['encrypted, an empty passphrase', () => readSigningKey(text(encrypted), '', 'k'), /passphrase is wrong/],
  ['an RSA key', () => readSigningKey(text(rsa.file), null, 'k'), /of another kind than Ed25519 or ECDSA/],
  ['a key on P-384', () => readSigningKey(text(p384.file), null, 'k'), /of another kind than Ed25519 or ECDSA/],
  ['a public key to sign with', () => readSigningKey(text(rsa.publicFile), null, 'k'), /contains no PEM private key/],
  ['nothing', () => readSigningKey('', null, 'k'), /contains no PEM private key/],
  [
    'a damaged key',
    () => readSigningKey(text(keys.ed25519.file).replace(/\n(.{20})/, '\nAAAAAAAAAAAAAAAAAAAA'), null, 'k'),
    /k cannot be read/,
  ],
  ['a private key to check with', () => readPublicKey(text(keys.ed25519.file), 'k'), /holds a private key where/],
  ['an RSA key to check with', () => readPublicKey(text(rsa.publicFile), 'k'), /of another kind/],
  ['two public keys', () => readPublicKey(text(rsa.publicFile).repeat(2), 'k'), /does not hold one public key/],
  ['no public key', () => readPublicKey('ssh-ed25519 AAAA', 'k'), /does not hold one public key/],
];
describe('refused', () => {
  test.each(REFUSED)('%s', (_words, read, message) => {
    const error = thrownBy(read);
    expect(error).toMatchObject({ code: 'config', message: expect.stringMatching(message) });
    // Neither the error nor anything that it refers to contains the key.
    const said = inspect(error, { depth: 10, showHidden: true });
    expect(isEvidenceError(error)).toBe(true);
    for (const file of [keys.ed25519.file, encrypted, legacy, rsa.file])
      expect(said).not.toContain(text(file).split('\n').at(-3));
    expect(said).not.toContain(PASSPHRASE);
  });
});

test('a key shows nothing of its secret, however it is printed', () => {
  const key = readSigningKey(text(keys.ed25519.file), null, 'k');
  const secret = text(keys.ed25519.file).split('\n')[1] ?? '';
  expect(secret).toMatch(/^[A-Za-z0-9+/=]{60,}$/);
  for (const shown of [inspect(key, { depth: 10, showHidden: true }), JSON.stringify(key)])
    expect(shown).not.toContain(secret);
});
