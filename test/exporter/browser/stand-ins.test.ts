import * as node from 'node:crypto';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as crypto from '../../../src/exporter/browser/stand-ins/crypto.ts';
import { crc32 } from '../../../src/exporter/browser/stand-ins/zlib.ts';

/** Comparison of the browser's stand-ins with Node. */

const bytes = fc.uint8Array({ maxLength: 80 });

describe.each(['sha256', 'sha384', 'sha512'] as const)('%s', (algorithm) => {
  test('of bytes and text, at once and in pieces, with a key and without', () => {
    fc.assert(
      fc.property(bytes, fc.string({ unit: 'binary' }), (data, words) => {
        expect(crypto.hash(algorithm, words)).toBe(node.hash(algorithm, words));
        expect(crypto.hash(algorithm, data, 'buffer')).toEqual(new Uint8Array(node.hash(algorithm, data, 'buffer')));
        expect(crypto.createHash(algorithm).update(data).update(words).digest('hex')).toBe(
          node.createHash(algorithm).update(data).update(words).digest('hex'),
        );
        expect(crypto.createHmac(algorithm, crypto.createSecretKey(data)).update(words).digest('hex')).toBe(
          node.createHmac(algorithm, data).update(words).digest('hex'),
        );
      }),
    );
  });
});

test('crc32, going on from an earlier value', () => {
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      expect(crc32(other, crc32(one))).toBe(zlib.crc32(other, zlib.crc32(one)));
    }),
  );
});
