import { beforeAll, expect, test } from 'vitest';
import { readRoots } from '../../../src/core/timestamp/roots.ts';
import { type Trust, verifyAnswer } from '../../../src/platform/timestamp/exchange.ts';
import { algorithm, integer, octets, oid, sequence, set, tlv } from '../../support/der.ts';
import {
  attribute,
  type CertificateOptions,
  ca,
  certificateId,
  type Forgery,
  forge,
  type Issued,
  issue,
  OID,
  purposes,
  statusInfo,
  USAGE,
  usage,
} from '../../support/tsa-forge.ts';

const NONCE = 0x1234;
const NOW = new Date('2026-03-01T12:00:10Z');
const imprint = Buffer.alloc(32, 0xab);
const PURPOSE = purposes(true, OID.timeStamping);

let root: Issued;
let signer: Issued;
let twin: Issued;
const made = new Map<string, Issued>();

/** Certificates of authorities by what is wrong with them. */
const CERTIFICATES: Record<string, Partial<CertificateOptions>> = {
  expired: { to: '2026-02-28' },
  'not yet valid': { from: '2026-03-02' },
  'without a purpose': { extensions: [] },
  'whose purpose is not critical': { extensions: [purposes(false, OID.timeStamping)] },
  'for servers, too': { extensions: [purposes(true, OID.timeStamping, OID.serverAuth)] },
  'for servers': { extensions: [purposes(true, OID.serverAuth)] },
  'for any purpose': { extensions: [purposes(true, '2.5.29.37.0')] },
  'that may not sign': { extensions: [PURPOSE, usage(USAGE.keyEncipherment)] },
  'that issues certificates only': { extensions: [PURPOSE, usage(USAGE.keyCertSign)] },
};

beforeAll(async () => {
  root = await issue({ subject: 'CN=Root', extensions: [ca()] });
  signer = await issue({ subject: 'CN=Authority', issuer: root, extensions: [PURPOSE] });
  twin = await issue({ subject: 'CN=Root', extensions: [ca()] });
  for (const [name, options] of Object.entries(CERTIFICATES))
    made.set(
      name,
      await issue({
        subject: 'CN=Authority',
        issuer: root,
        extensions: [purposes(true, OID.timeStamping)],
        ...options,
      }),
    );
});

/** Returns what the platform says of these bytes. */
function judgeBytes(der: Buffer, trust: Partial<Trust> = {}): string {
  const nonce = Buffer.alloc(2);
  nonce.writeUInt16BE(NONCE);
  try {
    return verifyAnswer('TSA', der, { imprint, nonce }, { roots: [], clock: () => NOW, ...trust }).toISOString();
  } catch (error) {
    return String(error);
  }
}

const usual: Partial<Forgery> = { imprint, status: statusInfo(0), info: (fields) => [...fields, integer(NONCE)] };
const judge = (changes: Partial<Forgery>, by = signer, trust: Partial<Trust> = {}) =>
  judgeBytes(forge(by, { ...usual, ...changes }), trust);
const pinned = (...roots: Issued[]): Partial<Trust> => ({ roots: roots.flatMap(({ pem }) => readRoots(pem, 'roots')) });
const infoWith = (at: number, field: Buffer) => (fields: Buffer[]) => [...fields.with(at, field), integer(NONCE)];
const good = () => forge(signer, usual);

/** Returns DER of this many sequences, one in the other. */
function nested(depth: number): Buffer {
  let inner: Buffer = Buffer.alloc(0);
  for (let level = 0; level < depth; level++) inner = sequence(inner);
  return inner;
}

/** Changes one byte, counted from the end. */
function changed(der: Buffer, fromEnd: number): Buffer {
  const bytes = Buffer.from(der);
  const at = bytes.length - fromEnd;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}

test('an honest answer is an anchor', () => {
  expect(judge({})).toBe('2026-03-01T12:00:00.000Z');
  expect(judge({ certificates: [signer.der, root.der] }, signer, pinned(root))).toBe('2026-03-01T12:00:00.000Z');
});

test.each<[what: string, answer: () => string]>([
  ['it is the answer to another request', () => judge({ info: (fields) => [...fields, integer(NONCE + 1)] })],
  ['its nonce is negative', () => judge({ info: (fields) => [...fields, tlv(2, Buffer.from([0xed, 0xcc]))] })],
  ['its nonce is longer', () => judge({ info: (fields) => [...fields, integer(0x11234)] })],
  ['it has two nonces', () => judge({ info: (fields) => [...fields, integer(NONCE), integer(NONCE)] })],
  ['its nonce is text', () => judge({ info: (fields) => [...fields, octets(Buffer.from([0x12, 0x34]))] })],
  ['it is over the digest of another checkpoint', () => judge({ imprint: Buffer.alloc(32, 0xac) })],
  ['it is over a part of the digest', () => judge({ imprint: imprint.subarray(0, 31) })],
  ['it is over more than the digest', () => judge({ imprint: Buffer.alloc(33, 0xab) })],
  ['it is over nothing', () => judge({ imprint: Buffer.alloc(0) })],
  ['its digest is said to be SHA-1', () => judge({ imprintAlgorithm: OID.sha1 })],
  ['its digest is said to be SHA-512', () => judge({ imprintAlgorithm: OID.sha512 })],
  ['its digest is of no algorithm', () => judge({ imprintAlgorithm: '1.2.3' })],
  ['it is of another version', () => judge({ info: infoWith(0, integer(2)) })],
  ['its time is text', () => judge({ info: infoWith(4, octets(Buffer.from('20260301120000Z'))) })],
  ['its time has a zone', () => judge({ genTime: '20260301130000+0100' })],
  ['its time is no time', () => judge({ genTime: '20260230120000Z' })],
  ['its time has no zone', () => judge({ genTime: '20260301120000' })],
  ['its time is an hour ago', () => judge({ genTime: '20260301110000Z' })],
  ['its time is in a year', () => judge({ genTime: '20270301120000Z' })],
  ['its time is of 1970', () => judge({ genTime: '19700101000000Z' })],
])('a token is no anchor if %s', (_what, answer) => {
  expect(answer()).toMatch(/is no anchor/);
});

test.each<[what: string, answer: () => string]>([
  ['two signed it', () => judge({ signers: (one) => [one, one] })],
  ['nobody signed it', () => judge({ signers: () => [] })],
  ['its signature has another bit', () => judgeBytes(changed(good(), 1))],
  ['its signature is cut off', () => judgeBytes(good().subarray(0, -1))],
  ['another signed it', () => judge({ signedWith: root.key })],
  ['its signature is of no attributes', () => judge({ attributes: () => [] })],
  [
    'its signature is of another type',
    () =>
      judge({
        attributes: ({ messageDigest, signingCertificate }) => [
          attribute(OID.contentType, oid(OID.data)),
          messageDigest,
          signingCertificate,
        ],
      }),
  ],
  [
    'its signature is of another content',
    () =>
      judge({
        attributes: ({ contentType, signingCertificate }) => [
          contentType,
          attribute(OID.messageDigest, octets(Buffer.alloc(32))),
          signingCertificate,
        ],
      }),
  ],
  [
    'its signature is of two contents',
    () =>
      judge({
        attributes: ({ contentType, messageDigest, signingCertificate }) => [
          contentType,
          messageDigest,
          attribute(OID.messageDigest, octets(Buffer.alloc(32))),
          signingCertificate,
        ],
      }),
  ],
  [
    'it names no certificate',
    () => judge({ attributes: ({ contentType, messageDigest }) => [contentType, messageDigest] }),
  ],
  [
    'it names the certificate of another',
    () =>
      judge({
        attributes: ({ contentType, messageDigest }) => [
          contentType,
          messageDigest,
          attribute(OID.signingCertificateV2, sequence(sequence(certificateId('sha256', root.der)))),
        ],
      }),
  ],
  ['its signature is said to use SHA-1', () => judge({ signatureAlgorithm: algorithm(OID.ecdsaSha1) })],
  ['its signature is said to use another digest', () => judge({ signatureAlgorithm: algorithm(OID.ecdsaSha384) })],
  ['its signature is said to be of RSA', () => judge({ signatureAlgorithm: algorithm(OID.rsa) })],
  [
    'its digest is SHA-1',
    () => judge({ digest: 'sha1', announced: [OID.sha1], signatureAlgorithm: algorithm(OID.ecdsaSha1) }),
  ],
  ['it is signed as it is sent', () => judge({ signedAs: 'context' })],
  ['it is of another content', () => judge({ contentType: OID.data })],
  ['its certificate is of a twin', () => judge({ certificates: [twin.der] })],
])('a token is no anchor if %s', (_what, answer) => {
  expect(answer()).toMatch(/is no anchor/);
});

test.each(Object.keys(CERTIFICATES))('a token is no anchor by a certificate %s', (name) => {
  expect(judge({}, made.get(name))).toMatch(/is no anchor/);
});

test.each<[what: string, answer: () => string]>([
  ['a root of the same name', () => judge({ certificates: [signer.der, twin.der] }, signer, pinned(twin))],
  ['itself', () => judge({}, root, pinned(root))],
  ['a root that the token brings', () => judge({ certificates: [signer.der, root.der] }, signer, pinned(twin))],
])('a token is no anchor by a path to %s', (_what, answer) => {
  expect(answer()).toMatch(/is no anchor/);
});

test.each<[what: string, bytes: () => Buffer]>([
  ['nothing', () => Buffer.alloc(0)],
  ['one byte', () => Buffer.from([0x30])],
  ['text', () => Buffer.from('<html>granted</html>')],
  ['zeros', () => Buffer.alloc(10_000)],
  ['a token without an answer', () => forge(signer, { ...usual, status: null }).subarray(4)],
  ['an answer and more', () => Buffer.concat([good(), Buffer.from([5, 0])])],
  ['two answers', () => Buffer.concat([good(), good()])],
  ['an answer without a token', () => sequence(statusInfo(0))],
  ['a refusal with a token', () => forge(signer, { ...usual, status: statusInfo(2) })],
  ['a status that there is not', () => forge(signer, { ...usual, status: statusInfo(99) })],
  ['a status below zero', () => forge(signer, { ...usual, status: sequence(tlv(2, Buffer.from([0xff]))) })],
  ['a set instead of a sequence', () => set(statusInfo(0))],
  ['5,000 sequences, one in the other', () => nested(5000)],
  ['a length of two to the 32nd', () => Buffer.from([0x30, 0x84, 0xff, 0xff, 0xff, 0xff])],
  ['a length without an end', () => Buffer.concat([Buffer.from([0x30, 0x80]), good(), Buffer.from([0, 0])])],
  [
    'a length in too many bytes',
    () => Buffer.concat([Buffer.from([0x30, 0x88, 0, 0, 0, 0, 0, 0, 0, 5]), statusInfo(0)]),
  ],
  ['100 certificates', () => forge(signer, { ...usual, certificates: Array(100).fill(signer.der) })],
])('%s is refused soon, and is no crash', (_what, bytes) => {
  const der = bytes();
  const began = performance.now();
  expect(judgeBytes(der)).toMatch(/^EvidenceError: |is no anchor/);
  expect(performance.now() - began).toBeLessThan(2000);
});
