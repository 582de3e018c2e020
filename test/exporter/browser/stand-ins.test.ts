import * as node from 'node:crypto';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Buffer as StandIn } from '../../../src/exporter/browser/stand-ins/buffer.ts';
import * as crypto from '../../../src/exporter/browser/stand-ins/crypto.ts';
import { crc32 } from '../../../src/exporter/browser/stand-ins/node.ts';

/** What stands in for Node in a browser is held against Node. */

const ENCODINGS = ['utf8', 'hex', 'base64', 'base64url', 'latin1', 'utf16le'] as const;
const bytes = fc.uint8Array({ maxLength: 80 });
/** Broken UTF-8 and lone surrogates too, and what is no text in the encoding. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.base64String(),
  fc.stringMatching(/^[0-9a-fA-F]*$/),
);

describe.each(ENCODINGS)('Buffer, %s', (encoding) => {
  test('writes bytes as Node does', () => {
    fc.assert(
      fc.property(bytes, fc.nat(10), (data, start) => {
        expect(StandIn.from(data).toString(encoding, start)).toBe(Buffer.from(data).toString(encoding, start));
      }),
    );
  });

  test('reads what Node has written, and tells as Node does what is no text in this encoding', () => {
    fc.assert(
      fc.property(bytes, text, (data, sent) => {
        const written = Buffer.from(data).toString(encoding);
        expect([...StandIn.from(written, encoding)]).toEqual([...Buffer.from(written, encoding)]);
        const survives = StandIn.from(sent, encoding).toString(encoding) === sent;
        expect(survives).toBe(Buffer.from(sent, encoding).toString(encoding) === sent);
      }),
    );
  });
});

test('Buffer compares, joins and reads numbers as Node does', () => {
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      expect(StandIn.compare(one, other)).toBe(Buffer.compare(one, other));
      expect([...StandIn.concat([one, other])]).toEqual([...Buffer.concat([one, other])]);
      const [ours, theirs] = [StandIn.from(one), Buffer.from(one)];
      if (one.length >= 8)
        expect([ours.readUInt16LE(1), ours.readUInt32LE(2), ours.readBigUInt64LE(0)]).toEqual([
          theirs.readUInt16LE(1),
          theirs.readUInt32LE(2),
          theirs.readBigUInt64LE(0),
        ]);
    }),
  );
});

describe.each(['sha256', 'sha384', 'sha512'] as const)('%s', (algorithm) => {
  test('of bytes and text, at once and in pieces, with a key and without', () => {
    fc.assert(
      fc.property(bytes, fc.string({ unit: 'binary' }), (data, words) => {
        expect(crypto.hash(algorithm, words)).toBe(node.hash(algorithm, words));
        expect(crypto.hash(algorithm, data, 'base64')).toBe(node.hash(algorithm, data, 'base64'));
        expect(crypto.createHash(algorithm).update(data).update(words, 'latin1').digest('hex')).toBe(
          node.createHash(algorithm).update(data).update(words, 'latin1').digest('hex'),
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
