import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { EvidenceError } from '../../../src/core/errors.ts';
import { readIntermediates, readRoots } from '../../../src/core/timestamp/roots.ts';
import { sequence, tlv } from '../../support/der.ts';
import { ca, extension, type Issued, issue, OID, purposes, USAGE, usage } from '../../support/tsa-forge.ts';

let root: Issued;
let second: Issued;

beforeAll(async () => {
  root = await issue({ subject: 'CN=Root', extensions: [ca(), usage(USAGE.keyCertSign)] });
  second = await issue({ subject: 'CN=Second', extensions: [ca()] });
});

function messageFor(pem: string): string {
  try {
    readRoots(pem, 'roots.pem');
  } catch (error) {
    if (error instanceof EvidenceError && error.code === 'config' && error.nextStep?.startsWith('Pin the root'))
      return error.message;
    throw error;
  }
  return 'accepted';
}

test('a bundle is read in its order, each root once, whatever stands around them', () => {
  const pem = `# our roots\r\n${second.pem.replaceAll('\n', '\r\n')}\nsubject=CN = Root\n${root.pem}${second.pem}`;
  expect(readRoots(pem, 'roots.pem').map(({ subject }) => subject.text)).toEqual(['CN=Second', 'CN=Root']);
});

test('roots made by openssl are read', () => {
  const file = join(import.meta.dirname, '../../vectors/anchor/root-rsa.pem');
  expect(readRoots(readFileSync(file, 'utf8'), file).map(({ subject }) => subject.text)).toEqual([
    'O=Test, CN=Test TSA Root',
  ]);
});

test('a root that signed itself with SHA-1 is a root: nothing is believed for that signature', async () => {
  const old = await issue({ subject: 'CN=Old', hash: 'SHA-1', extensions: [ca()] });
  expect(readRoots(old.pem, 'roots.pem')).toHaveLength(1);
});

test('intermediates are any certificates, and only certificates', async () => {
  const below = await issue({ subject: 'CN=Below', issuer: root, extensions: [ca()] });
  expect(readIntermediates(below.pem, 'others.pem').map(({ subject }) => subject.text)).toEqual(['CN=Below']);
  expect(() => readIntermediates('', 'others.pem')).toThrow('others.pem contains no certificate in PEM');
});

describe('what is no root is refused with what it is', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const weak = {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 1024,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  };
  const constraints = extension(
    '2.5.29.30',
    true,
    sequence(tlv(0xa0, sequence(tlv(0x82, Buffer.from('example.org'))))),
  );
  const made = async (options: Partial<Parameters<typeof issue>[0]>) =>
    (await issue({ subject: 'CN=X', ...options })).pem;

  test.each<[string, () => string | Promise<string>, RegExp]>([
    ['nothing', () => '', /^roots\.pem contains no certificate in PEM$/],
    ['DER', () => root.der.toString('latin1'), /contains no certificate in PEM/],
    ['a private key', () => root.pem + key, /^roots\.pem: block 2 is a PRIVATE KEY, not a CERTIFICATE$/],
    ['a block that is cut off', () => root.pem + second.pem.slice(0, 200), /begins 2 blocks, of which 1 are complete/],
    ['no base64', () => root.pem.replace(/\n./, '\n!'), /block 1 is not base64/],
    [
      'base64 of something else',
      () => '-----BEGIN CERTIFICATE-----\nTUlJ\n-----END CERTIFICATE-----',
      /block 1 is no certificate/,
    ],
    [
      'a certificate without basicConstraints',
      () => made({ extensions: [] }),
      /\(CN=X\) is not the certificate of a CA/,
    ],
    ['an authority', () => made({ extensions: [purposes(true, OID.timeStamping)] }), /is not the certificate of a CA/],
    ['a CA that may not sign', () => made({ extensions: [ca(), usage(USAGE.cRLSign)] }), /may not sign certificates/],
    [
      'a CA below another',
      () => made({ issuer: root, extensions: [ca()] }),
      /is not self-signed: pin the root above it/,
    ],
    [
      'a CA that names itself but is signed by another',
      () => made({ issuer: { ...root, subject: 'CN=X' }, extensions: [ca()] }),
      /not self-signed/,
    ],
    [
      'a CA that signed itself in the name of another',
      () => made({ issuer: { ...root, subject: 'CN=Y' }, keys: root.keys, extensions: [ca()] }),
      /not self-signed/,
    ],
    [
      'a weak key',
      () => made({ algorithm: weak, extensions: [ca()] }),
      /an RSA key of 1024 bits, which is not accepted/,
    ],
    ['name constraints', () => made({ extensions: [ca(), constraints] }), /not understood: 2\.5\.29\.30/],
  ])('%s', async (_name, make, message) => {
    expect(messageFor(await make())).toMatch(message);
  });

  test('no message repeats a key', () => {
    const secret = key.split('\n')[1] ?? '';
    expect(secret).not.toBe('');
    expect(messageFor(key)).not.toContain(secret);
  });
});
