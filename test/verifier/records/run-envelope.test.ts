import { expect, test } from 'vitest';
import { toRecordBytes } from '../../../src/verifier/records/record-bytes.ts';
import { envelopePieces, openEnvelope } from '../../../src/verifier/records/statement.ts';
import { type Envelope, sign } from '../../../src/verifier/signature/envelope.ts';
import { signedOf, toEnvelope } from '../../support/envelope.ts';
import { newKey } from '../../support/signed-archive.ts';

/** Size of the pieces in which a payload is written. */
const PART = 3 * 2 ** 16;
const KEY = newKey();

/** Returns a payload without repetitions, so that misplaced pieces show. */
const payloadOf = (bytes: number) =>
  Buffer.from(Uint8Array.from({ length: bytes }, (_, at) => (at * 31 + at / 251) % 256));
const bytesOf = (payload: Buffer) => {
  const signed = signedOf('application/json', payload);
  return Buffer.from([...envelopePieces(signed, sign(signed, KEY))].join(''));
};

test.each([0, 1, 2, 3, PART - 1, PART, PART + 1, 2 * PART, 2 * PART + 2])('a payload of %i bytes', (bytes) => {
  const payload = payloadOf(bytes);
  const signed = signedOf('application/json', payload);
  const file = bytesOf(payload);
  expect(file.equals(toRecordBytes(toEnvelope(signed, KEY)))).toBe(true);
  const { signature, ...opened } = openEnvelope(file, 'run.dsse.json');
  expect(opened.payload.equals(payload)).toBe(true);
  expect(opened).toEqual(signed);
  expect(signature).toEqual(sign(signed, KEY));
});

const OTHERS: [string, (envelope: Envelope) => unknown, RegExp][] = [
  ['no signature', (one) => ({ ...one, signatures: [] }), /is not the record it should be/],
  ['two signatures', (one) => ({ ...one, signatures: [one.signatures, one.signatures].flat() }), /not the record/],
  ['a member more', (one) => ({ ...one, more: 1 }), /not the record/],
  ['a second payload', (one) => ({ ...one, 'payload ': 'AA==' }), /not the record/],
  ['another order', ({ payload, ...one }) => ({ ...one, payload }), /is /],
  ['no payload', ({ payload: _payload, ...one }) => one, /is /],
  ['a payload that is no text', (one) => ({ ...one, payload: 1 }), /is /],
  ['base64 without padding', (one) => ({ ...one, payload: 'AA' }), /not base64/],
  ['base64 of nothing but padding', (one) => ({ ...one, payload: '=='.repeat(9) }), /not base64/],
  ['base64 with padding inside', (one) => ({ ...one, payload: `AA==${one.payload}` }), /not base64/],
  [
    'padding where a part ends',
    (one) => ({ ...one, payload: `${'A'.repeat(2 ** 18 - 1)}=${'A'.repeat(8)}` }),
    /not base64/,
  ],
  ['base64 with bits that mean nothing', (one) => ({ ...one, payload: 'AB==' }), /not base64/],
  ['base64 with white space', (one) => ({ ...one, payload: 'AA ==' }), /not base64/],
  ['base64 for URLs', (one) => ({ ...one, payload: '_-8=' }), /not base64/],
  ['an escape in the payload', (one) => ({ ...one, payload: 'AA"AA' }), /is /],
  [
    'a signature of megabytes',
    (one) => ({ ...one, signatures: [{ keyid: '0'.repeat(64), sig: 'A'.repeat(2 ** 20) }] }),
    /more than/,
  ],
];
test.each(OTHERS)('is refused: %s', (_words, change, why) => {
  const good = toEnvelope(signedOf('t', Buffer.from('hello')), KEY);
  const open = () => openEnvelope(toRecordBytes(change(good)), 'run.dsse.json');
  expect(open).toThrow(expect.objectContaining({ code: 'unreadable', message: expect.stringMatching(why) }));
});

test.each([
  ['without its last byte', (bytes: Buffer) => bytes.subarray(0, -1)],
  ['nothing', () => Buffer.alloc(0)],
  ['a byte', () => Buffer.from('{')],
  ['a quote more', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('"')])],
  ['in one line', (bytes: Buffer) => Buffer.from(JSON.stringify(JSON.parse(bytes.toString())))],
])('is refused as a file: %s', (_words, change) => {
  const open = () => openEnvelope(change(bytesOf(Buffer.from('hello'))), 'run.dsse.json');
  expect(open).toThrow(expect.objectContaining({ code: 'unreadable' }));
});
