import fc from 'fast-check';
import { afterAll, describe, expect, test, vi } from 'vitest';
import * as inNode from '../../src/core/bytes.ts';

/** Loads the module without `Buffer`, as in a browser. */
async function inBrowser(): Promise<typeof inNode> {
  vi.stubGlobal('Buffer', undefined);
  const again = '../../src/core/bytes.ts?without-buffer';
  return import(again).finally(() => vi.unstubAllGlobals());
}

const paths: [string, typeof inNode][] = [
  ['Node', inNode],
  ['a browser', await inBrowser()],
];
afterAll(() => vi.unstubAllGlobals());

const bytes = fc.uint8Array({ maxLength: 80 });
/** Texts, including lone surrogates. */
const text = fc.string({ unit: 'binary', maxLength: 40 });
const ENCODINGS = ['base64', 'base64url'] as const;

describe.each(paths)('in %s', (_name, own) => {
  test('texts and bytes are what Node makes of them', () => {
    fc.assert(
      fc.property(bytes, bytes, text, (one, other, words) => {
        expect(own.utf8Bytes(words)).toEqual(new Uint8Array(Buffer.from(words)));
        expect(own.utf8Text(one)).toBe(Buffer.from(one).toString());
        expect(own.hexText(one)).toBe(Buffer.from(one).toString('hex'));
        expect(own.base64Text(one)).toBe(Buffer.from(one).toString('base64'));
        expect(new Uint8Array(own.hexBytes(own.hexText(one).toUpperCase()))).toEqual(one);
        expect(own.joinBytes([one, other])).toEqual(new Uint8Array(Buffer.concat([one, other])));
        expect(Math.sign(own.compareBytes(one, other))).toBe(Buffer.compare(one, other));
        expect(own.areSameBytes(one, one.slice())).toBe(true);
      }),
    );
  });

  test('of the middle of other bytes too', () => {
    const middle = Uint8Array.of(0, 1, 0xab, 0xff, 7).subarray(1, 4);
    expect([own.hexText(middle), own.base64Text(middle)]).toEqual(['01abff', 'Aav/']);
  });

  test('hex of a part of the bytes, and of nothing beyond them', () => {
    const middle = Uint8Array.of(0, 1, 0xab, 0xff, 7).subarray(1, 4);
    const parts = [
      own.hexText(middle, 1),
      own.hexText(middle, 1, 2),
      own.hexText(middle, 2, 9),
      own.hexText(middle, 5, 6),
    ];
    expect(parts).toEqual(['abff', 'ab', 'ff', '']);
  });

  test('a byte order mark is a character', () => {
    expect(own.utf8Text(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toBe('\u{feff}a');
  });

  test.each(['a', 'xx', '0g', ' 00', '00\n'])('%j is not hexadecimal', (word) => {
    expect(() => own.hexBytes(word)).toThrow(RangeError);
  });

  test.each(ENCODINGS)('%s is read as it is written, with padding and without', (encoding) => {
    fc.assert(
      fc.property(bytes, (data) => {
        const bare = Buffer.from(data).toString(encoding).replace(/=+$/, '');
        const padded = bare.padEnd(Math.ceil(bare.length / 4) * 4, '=');
        for (const written of [bare, padded])
          expect(new Uint8Array(own.base64Bytes(written, encoding) ?? [1, 2, 3])).toEqual(data);
      }),
    );
  });

  test.each(ENCODINGS)('%s that no encoder writes is none', (encoding) => {
    const almost = fc.oneof(fc.base64String(), fc.stringMatching(/^[A-Za-z0-9+/_=-]{0,12}$/), text);
    fc.assert(
      fc.property(almost, (sent) => {
        const read = own.base64Bytes(sent, encoding);
        const again = read === null ? null : Buffer.from(read).toString(encoding);
        const isWritten = [sent, sent.replace(/={1,2}$/, '')].includes(again?.replace(/=+$/, '') ?? '-');
        expect(read === null || isWritten, sent).toBe(true);
      }),
    );
    for (const word of ['A', 'AA=', 'AAAA=', 'AB', 'AAB', '====', 'A A=', 'AA\n', 'é'])
      expect(own.base64Bytes(word, encoding), word).toBe(null);
  });

  test('the two of them have letters of their own', () => {
    expect(own.base64Bytes('-_-_')).toBe(null);
    expect(own.base64Bytes('+/+/', 'base64url')).toBe(null);
  });
});
