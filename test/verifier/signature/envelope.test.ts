import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSigningKey } from '../../../src/exporter/ledger/signing-key.ts';
import { type Envelope, envelopeSchema, isSignedBy, toSigned } from '../../../src/verifier/signature/envelope.ts';
import { readPublicKey } from '../../../src/verifier/signature/key.ts';
import { signedIn, signedOf, toEnvelope } from '../../support/envelope.ts';
import { KINDS, makeKey, opensslVerifies } from '../../support/openssl-keys.ts';
import { sigstoreVerifies } from '../../support/sigstore.ts';

const folder = mkdtempSync(join(tmpdir(), 'envelope-'));
const SIGNED = signedOf('application/vnd.in-toto+json', Buffer.from('{"a":"ü"}\n'));

test('the encoding is that of the example in the protocol of DSSE', () => {
  const signed = signedOf('http://example.com/HelloWorld', Buffer.from('hello world'));
  expect(signed.encoded.toString()).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
});

test('lengths are those of the bytes', () => {
  expect(signedOf('ü', Buffer.from('€')).encoded.toString()).toBe('DSSEv1 2 ü 3 €');
});

test('a payload is put together from its parts', () => {
  const signed = toSigned('t', 5, ['ab', '', 'cde'], 'utf8');
  expect(signed).toEqual(signedOf('t', Buffer.from('abcde')));
});

test.each([4, 6])('parts that have not %i bytes are no payload of so many', (bytes) => {
  expect(() => toSigned('t', bytes, ['ab', 'cde'], 'utf8')).toThrow(RangeError);
});

describe.each(KINDS)('%s', async (kind) => {
  const files = await makeKey(folder, kind, kind);
  const publicPem = readFileSync(files.publicFile, 'utf8');
  const key = readPublicKey(publicPem, 'k');
  const envelope = toEnvelope(SIGNED, readSigningKey(readFileSync(files.file, 'utf8'), null, 'k'));

  const ourselves = (one: Envelope) => isSignedBy(signedIn(one), one.signatures[0], key);
  const openssl = (one: Envelope) => {
    const { payload, payloadType } = signedIn(one);
    const encoded = `DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `;
    const [{ sig }] = one.signatures;
    return opensslVerifies(folder, kind, files, Buffer.concat([Buffer.from(encoded), payload]), sig);
  };

  test('we, openssl and sigstore find the signature to be good', async () => {
    expect(envelopeSchema.parse(envelope)).toEqual(envelope);
    expect(envelope.signatures[0].keyid).toBe(files.id);
    expect([ourselves(envelope), await openssl(envelope), sigstoreVerifies(envelope, publicPem)]).toEqual([
      true,
      true,
      true,
    ]);
  });

  const [{ sig, keyid }] = envelope.signatures;
  const ALTERED: [string, Envelope][] = [
    ['a byte of the payload', { ...envelope, payload: alter(envelope.payload, 5) }],
    [
      'a byte more of payload',
      { ...envelope, payload: Buffer.concat([SIGNED.payload, Buffer.from(' ')]).toString('base64') },
    ],
    ['the type of the payload', { ...envelope, payloadType: 'application/json' }],
    ['the first byte of the signature', { ...envelope, signatures: [{ keyid, sig: alter(sig, 0) }] }],
    ['a middle byte of the signature', { ...envelope, signatures: [{ keyid, sig: alter(sig, 30) }] }],
    ['the last byte of the signature', { ...envelope, signatures: [{ keyid, sig: alter(sig, -1) }] }],
    [
      'a signature cut short',
      { ...envelope, signatures: [{ keyid, sig: Buffer.from(sig, 'base64').subarray(1).toString('base64') }] },
    ],
    ['no signature', { ...envelope, signatures: [{ keyid, sig: '' }] }],
  ];
  test.each(ALTERED)('altered: %s', async (_words, one) => {
    expect([ourselves(one), await openssl(one), sigstoreVerifies(one, publicPem)]).toEqual([false, false, false]);
  });
});

const SHAPES: [string, (envelope: Envelope) => unknown][] = [
  ['no signature', (envelope) => ({ ...envelope, signatures: [] })],
  ['two signatures', (envelope) => ({ ...envelope, signatures: [...envelope.signatures, ...envelope.signatures] })],
  ['a member more', (envelope) => ({ ...envelope, more: 1 })],
  ['a key id that is no digest', (envelope) => ({ ...envelope, signatures: [{ keyid: 'k', sig: 'AA==' }] })],
  ['base64 without padding', (envelope) => ({ ...envelope, payload: 'AA' })],
  ['base64 with bits that mean nothing', (envelope) => ({ ...envelope, payload: 'AB==' })],
  ['base64 with white space', (envelope) => ({ ...envelope, payload: 'AA ==' })],
  ['base64 for URLs', (envelope) => ({ ...envelope, payload: '_-8=' })],
];
test.each(SHAPES)('is no envelope: %s', (_words, change) => {
  const good: Envelope = { payload: 'AA==', payloadType: 't', signatures: [{ keyid: '0'.repeat(64), sig: 'AA==' }] };
  expect(envelopeSchema.safeParse(good).success).toBe(true);
  expect(envelopeSchema.safeParse(change(good)).success).toBe(false);
});

/** Flips one bit of a byte, counted from the end if negative. */
function alter(base64: string, at: number): string {
  const bytes = Buffer.from(base64, 'base64');
  const index = at < 0 ? bytes.length + at : at;
  bytes.writeUInt8(bytes.readUInt8(index) ^ 1, index);
  return bytes.toString('base64');
}
