import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StreamingSha256, sha256, toHmacKey } from '../../src/core/digest.ts';

const BYTES = Buffer.from('evidence äöü \u{1f600} \u0000', 'utf8');

test('sha256sum computes the same digest', () => {
  const digest = execFileSync('sha256sum', { input: BYTES, encoding: 'utf8' }).slice(0, 64);
  expect(sha256(BYTES)).toBe(digest);
  expect(sha256(BYTES.toString('utf8'))).toBe(digest);
});

test('in pieces, the digest and the length are those of the whole', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 100 })), (pieces) => {
      const whole = Buffer.concat(pieces);
      const digest = new StreamingSha256();
      for (const piece of pieces) digest.update(piece);
      expect(digest.finish()).toEqual({ sha256: sha256(whole), bytes: whole.length });
    }),
  );
});

test.each(['00', 'ff00ff', '6b6579', 'ab'.repeat(100)])('openssl makes the same seal with the key %s', (key) => {
  const text = sha256('entry');
  const made = execFileSync('openssl', ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`], {
    input: text,
    encoding: 'utf8',
  });
  const seal = createHmac('sha256', toHmacKey(Buffer.from(key, 'hex')))
    .update(text)
    .digest('hex');
  expect(seal).toBe(made.trim().split(' ').at(-1));
});
