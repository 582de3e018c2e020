import { describe, expect, test } from 'vitest';
import { readDer } from '../../../src/core/timestamp/der.ts';
import { readName, sameName } from '../../../src/core/timestamp/names.ts';
import { oid, sequence, set, tlv } from '../../support/der.ts';

const UTF8 = 0x0c;
const PRINTABLE = 0x13;
const T61 = 0x14;
const BMP = 0x1e;
const OCTETS = 0x04;
const COMMON_NAME = '2.5.4.3';

const pair = (type: string, tag: number, text: string | Buffer) => sequence(oid(type), tlv(tag, Buffer.from(text)));
const name = (...rdns: Buffer[][]) => readName(readDer(sequence(...rdns.map((rdn) => set(...rdn)))));
const commonName = (text: string | Buffer, tag = UTF8) => name([pair(COMMON_NAME, tag, text)]);

describe('equal but for how they are written', () => {
  test.each([
    ['string type', commonName('Root', PRINTABLE), commonName('Root')],
    ['two bytes a character', commonName(Buffer.from('\0R\0o\0o\0t'), BMP), commonName('Root')],
    ['one byte a character', commonName(Buffer.from([0xe9]), T61), commonName('é')],
    ['case', commonName('ROOT ca'), commonName('root CA')],
    ['white space', commonName('  Root \t CA '), commonName('Root CA')],
  ])('%s', (_what, one, other) => {
    expect(sameName(one, other)).toBe(true);
  });
});

describe('different', () => {
  test.each([
    ['text', commonName('Root'), commonName('Boot')],
    ['attribute', commonName('Root'), name([pair('2.5.4.10', UTF8, 'Root')])],
    ['nothing', commonName('Root'), name()],
    ['white space inside a word', commonName('Ro ot'), commonName('Root')],
    ['one part more', commonName('Root'), name([pair(COMMON_NAME, UTF8, 'Root')], [pair(COMMON_NAME, UTF8, 'Root')])],
    [
      'two parts or one of two',
      name([pair(COMMON_NAME, UTF8, 'A')], [pair(COMMON_NAME, UTF8, 'B')]),
      name([pair(COMMON_NAME, UTF8, 'A'), pair(COMMON_NAME, UTF8, 'B')]),
    ],
    ['a letter that only Unicode folds', commonName('\u212a'), commonName('k')],
    ['bytes that are no text', commonName(Buffer.from([0xff])), commonName(Buffer.from([0xfe]))],
    ['bytes and their text', commonName('x', OCTETS), commonName('#040178')],
  ])('%s', (_what, one, other) => {
    expect(sameName(one, other)).toBe(false);
  });
});

test('a name is read aloud without what would deceive', () => {
  const parts = [pair('2.5.4.6', PRINTABLE, 'DE'), pair(COMMON_NAME, UTF8, 'A\u202eB\n'), pair('1.2.3', OCTETS, 'x')];
  expect(name(...parts.map((part) => [part])).text).toBe('C=DE, CN=A\\u{202e}B\\u{a}, 1.2.3=#040178');
});

test.each([
  ['an attribute without a value', sequence(set(sequence(oid(COMMON_NAME))))],
  ['an attribute of two values', sequence(set(sequence(oid(COMMON_NAME), tlv(UTF8), tlv(UTF8))))],
  ['a part that is no set', sequence(sequence())],
  ['no sequence', set()],
])('%s is refused', (_what, der) => {
  expect(() => readName(readDer(der))).toThrow(/name/);
});
