import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { readDer } from '../../../src/core/timestamp/der.ts';
import {
  readBits,
  readBoolean,
  readCount,
  readInteger,
  readOid,
  readTime,
} from '../../../src/core/timestamp/values.ts';

const element = (hex: string) => readDer(Buffer.from(hex, 'hex'));

/** Returns the value as openssl prints it. */
function openssl(hex: string): string {
  const text = execFileSync('openssl', ['asn1parse', '-inform', 'DER'], { input: Buffer.from(hex, 'hex') }).toString();
  return text.slice(text.lastIndexOf(':') + 1).trim();
}

describe('object identifiers', () => {
  test.each([
    ['06022a03', '1.2.3'],
    ['06028837', '2.999'],
    ['060100', '0.0'],
    ['06014f', '1.39'],
    ['060150', '2.0'],
    ['060a2b06010401868d1f8101', '1.3.6.1.4.1.99999.129'],
    ['060b2a8fffffffffffffffff7f', '1.2.147573952589676412927'],
  ])('%s is %s, to openssl too', (hex, dotted) => {
    expect(readOid(element(hex), 'it')).toBe(dotted);
    expect(openssl(hex)).toBe(dotted);
  });

  test.each([
    ['empty', '0600'],
    ['going on after its end', '06022a83'],
    ['with a number in too many octets', '06032a8003'],
    ['of 65 octets', `0641${'2a'.repeat(65)}`],
  ])('%s', (_name, hex) => {
    expect(() => readOid(element(hex), 'it')).toThrow(/^it is no object identifier/);
  });
});

describe('numbers', () => {
  test.each([
    ['020100', 0n],
    ['02017f', 127n],
    ['02020080', 128n],
    ['0201ff', -1n],
    ['020180', -128n],
    ['0202ff7f', -129n],
    [`0211${'00'}${'ff'.repeat(16)}`, 2n ** 128n - 1n],
  ])('%s is %d, to openssl too', (hex, value) => {
    expect(readInteger(element(hex), 'it')).toBe(value);
    const [, sign, digits] = /^(-?)([0-9A-F]+)$/.exec(openssl(hex)) ?? [];
    expect(BigInt(`0x${digits}`) * (sign === '-' ? -1n : 1n)).toBe(value);
  });

  test.each([
    ['empty', '0200'],
    ['a zero too many', '0202007f'],
    ['a sign too many', '0202ff80'],
    ['65 octets', `0241${'01'.repeat(65)}`],
  ])('%s', (_name, hex) => {
    expect(() => readInteger(element(hex), 'it')).toThrow(/^it is a number (of|in)/);
  });

  test.each([
    ['0203010000', /it is 65536, not a number from 0 to 999/],
    ['0201ff', /it is -1/],
  ])('%s is out of bounds', (hex, message) => {
    expect(() => readCount(element(hex), 999, 'it')).toThrow(message);
  });
});

test('bits are numbered from the first', () => {
  expect(readBits(element('03020780'), 'it')).toEqual([0]);
  expect(readBits(element('03020106'), 'it')).toEqual([5, 6]);
  expect(readBits(element('0303070080'), 'it')).toEqual([8]);
  expect(readBits(element('030100'), 'it')).toEqual([]);
});

test.each(['0300', '030101', '03020880'])('%s is no bit string', (hex) => {
  expect(() => readBits(element(hex), 'it')).toThrow('it is no bit string');
});

test('truth is one octet, all or nothing', () => {
  expect(readBoolean(element('0101ff'), 'it')).toBe(true);
  expect(readBoolean(element('010100'), 'it')).toBe(false);
  for (const hex of ['0100', '010101', '0102ffff'])
    expect(() => readBoolean(element(hex), 'it')).toThrow('neither true nor false');
});

describe('times', () => {
  const time = (text: string) =>
    readTime(element(`18${text.length.toString(16).padStart(2, '0')}${Buffer.from(text).toString('hex')}`), 'it');

  test.each([
    ['20260301120000Z', '2026-03-01T12:00:00.000Z'],
    ['20240229235959.9Z', '2024-02-29T23:59:59.900Z'],
    ['20260301120000.123999999Z', '2026-03-01T12:00:00.123Z'],
  ])('%s', (text, iso) => {
    expect(time(text)).toEqual({ date: new Date(iso), text });
  });

  test.each([
    '20260229120000Z',
    '20261301120000Z',
    '20260301240000Z',
    '20260301120060Z',
    '20260301120000',
    '202603011200Z',
    '20260301120000.Z',
    '20260301120000+0000',
    ' 20260301120000Z',
    '260301120000Z',
  ])('%s is refused', (text) => {
    expect(() => time(text)).toThrow(/^it /);
  });
});
