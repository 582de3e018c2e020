import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_DEPTH } from '../../../src/core/json/canonical.ts';
import { parseExactJson } from '../../../src/core/json/exact.ts';
import { thrownBy } from '../../support/json.ts';

const TWICE = 'a member name occurs twice in one object';
const SURROGATE = 'a string contains a lone surrogate';
const UTF8 = 'the text is not valid UTF-8';

const TEXTS: [text: string, ambiguity: string | null][] = [
  ['{}', null],
  ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}', null],
  ['{"a":1,"a":1}', TWICE],
  ['{"a":1,"\\u0061":2}', TWICE],
  ['{"\\u0061":1,"\\u0061":2}', TWICE],
  ['{"é":1,"\\u00e9":2}', TWICE],
  ['{"é":1,"e\\u0301":2}', null],
  ['{"😀":1,"\\ud83d\\ude00":2}', TWICE],
  ['{"":1,"":2}', TWICE],
  ['{"__proto__":1,"__proto__":2}', TWICE],
  ['{"__proto__":1}', null],
  ['{"a":[[{"b":{"c":1,"d":2,"c":1}}]]}', TWICE],
  ['{"a":{"x":1,"y":{"z":1}},"a":1}', TWICE],
  ['[{"a":1},{"a":1,"a":{}}]', TWICE],
  ['{"a":"\\"b\\":","c":"\\\\","d":":::"}', null],
  ['{"a":"\\\\\\"","a":1}', TWICE],
  ['"\\ud800"', SURROGATE],
  ['"\\ude00\\ud83d"', SURROGATE],
  ['"\\ud83d\\ude00"', null],
  ['{"\\udfff":1}', SURROGATE],
  ['[[{"a":{"b":"x\\ud800y"}}]]', SURROGATE],
];

describe('a text that could be read in two ways', () => {
  test.each(TEXTS)('%s', (text, ambiguity) => {
    const read = parseExactJson(Buffer.from(text));
    expect(read).toMatchObject({ value: JSON.parse(text), ambiguity });
  });

  const BYTES: [string, number[]][] = [
    ['a byte that begins nothing', [0x22, 0xff, 0x22]],
    ['an overlong form', [0x22, 0xc0, 0xaf, 0x22]],
    ['a surrogate in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a character that is cut off', [0x22, 0xe2, 0x82, 0x22]],
    ['a member name', [0x7b, 0x22, 0x80, 0x22, 0x3a, 0x31, 0x7d]],
    ['beyond U+10FFFF', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
  ];
  test.each(BYTES)('invalid UTF-8: %s', (_words, bytes) => {
    expect(parseExactJson(Uint8Array.from(bytes)).ambiguity).toBe(UTF8);
  });
});

describe('what is not JSON is unreadable', () => {
  const cases: [string, string | Uint8Array][] = [
    ['nothing', ''],
    ['white space', ' \n'],
    ['a byte order mark', '\ufeff{}'],
    ['two texts', '{} {}'],
    ['a trailing comma', '{"a":1,}'],
    ['a comment', '{} // no'],
    ['NaN', 'NaN'],
    ['a leading zero', '01'],
    ['a line feed in a string', '"\n"'],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['arrays one deeper than the limit', '['.repeat(MAX_DEPTH + 1) + ']'.repeat(MAX_DEPTH + 1)],
    ['arrays of 100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['objects of 100,000 levels', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['arrays of 100,000 levels that never end', '['.repeat(100_000)],
  ];
  test.each(cases)('%s', (_words, text) => {
    expect(thrownBy(() => parseExactJson(Buffer.from(text)))).toMatchObject({ code: 'unreadable' });
  });

  test('nesting up to the limit is read', () => {
    const text = '['.repeat(MAX_DEPTH) + ']'.repeat(MAX_DEPTH);
    expect(parseExactJson(Buffer.from(text)).value).toEqual(JSON.parse(text));
  });
});

/** Pairs of texts: parsing the first makes V8 13.6 misread the second, whose objects have the same shape. */
const POISONED: [string, string][] = [
  ['{"a":1,"\\\\":1}', '{"a":1,"\\"":1}'],
  ['{"b":1,"\\\\u0061":1}', '{"b":1,"\\u0061bcdef":1}'],
  ['{"c":1,"\\\\n":1}', '{"c":1,"\\nx":1}'],
  ['{"d":1,"x\\\\":1}', '{"d":1,"x\\t":1}'],
  ['{"e":{"f":1,"\\\\":1}}', '{"e":{"f":1,"\\"":1,"\\\\":2}}'],
  ['{"g":1,"\\\\":1}', '{"g":1,"\\"":9007199254740993,"\\\\":2}'],
];

test.each(POISONED)('having read %s does not change what is read in %s', (before, text) => {
  const fresh = parseExactJson(Buffer.from(text.replace(/^./, '{"fresh":0,')));
  for (let time = 0; time < 10; time++) JSON.parse(before);
  const read = parseExactJson(Buffer.from(text));
  expect({ ...(read.value as object), fresh: 0 }).toEqual(fresh.value);
  expect(read.ambiguity).toBe(fresh.ambiguity);
});

test('property: names full of escapes are read as they are written, whatever was read before', () => {
  const name = fc.array(fc.constantFrom('\\', '"', '\n', '\t', 'n', 'x', '/', '\u0001', 'ü'), { maxLength: 4 });
  const member = fc.tuple(
    name.map((signs) => signs.join('')),
    fc.constantFrom(1, 'x', {}, []),
  );
  const documents = fc.array(fc.array(member, { maxLength: 4 }).map(Object.fromEntries), { maxLength: 6 });
  fc.assert(
    fc.property(documents, (document) => {
      const inner = [{ document }, document];
      const read = parseExactJson(Buffer.from(JSON.stringify(inner)));
      expect(read).toMatchObject({ value: inner, ambiguity: null });
    }),
    { numRuns: 1000 },
  );
});

test('a name with a backslash does not lift the limit on depth', () => {
  const deep = `{"\\\\":${'['.repeat(100_000)}${']'.repeat(100_000)},"\\\\":1}`;
  expect(thrownBy(() => parseExactJson(Buffer.from(deep)))).toMatchObject({ code: 'unreadable' });
});

test('a member count from elsewhere is believed instead of counting', () => {
  const bytes = Buffer.from('{"a":{"b":1}}');
  expect(parseExactJson(bytes, { members: 2 }).ambiguity).toBeNull();
  expect(parseExactJson(bytes, { members: 3 }).ambiguity).toBe(TWICE);
});

test('property: doubling any member of any document is noticed, and nothing else is', () => {
  const values = fc.oneof(fc.jsonValue(), fc.double({ noDefaultInfinity: true, noNaN: true }), fc.maxSafeInteger());
  const documents = fc.dictionary(fc.string(), values, { minKeys: 1 });
  fc.assert(
    fc.property(documents, fc.nat(), values, (document, pick, other) => {
      const text = JSON.stringify(document);
      expect(parseExactJson(Buffer.from(text)).ambiguity).toBeNull();
      const names = Object.keys(document);
      const doubled = `${text.slice(0, -1)},${JSON.stringify(names[pick % names.length])}:${JSON.stringify(other)}}`;
      expect(parseExactJson(Buffer.from(doubled)).ambiguity).toBe(TWICE);
    }),
    { numRuns: 300 },
  );
});

/** JSON text, the first number that changes when it is parsed, and true if the parsed number is an integer. */
const NUMBERS: [text: string, inexact: string | null, integer?: boolean][] = [
  ['9007199254740991', null],
  ['9007199254740992', null],
  ['9007199254740993', '9007199254740993', true],
  ['9007199254740993.0', '9007199254740993.0', true],
  ['9007199254740993e0', '9007199254740993e0', true],
  ['90071992547409.93e2', '90071992547409.93e2', true],
  ['-9007199254740992', null],
  ['-9007199254740993', '-9007199254740993', true],
  ['[1,{"a":18014398509481985}]', '18014398509481985', true],
  ['123456789012345678901234567890', '123456789012345678901234567890', true],
  // RFC 8785 does not write the exact value of a double; another reader sees two numbers.
  ['123456789012345677877719597056', '123456789012345677877719597056', true],
  ['12345678901234567168', '12345678901234567168', true],
  ['12345678901234567000', null],
  ['67154556623969050', null],
  ['67154556623969051', '67154556623969051', true],
  ['1e23', null],
  ['100000000000000000000000', null],
  ['99999999999999991611392', '99999999999999991611392', true],
  ['1e21', null],
  ['1e400', '1e400'],
  ['[-1e400]', '-1e400'],
  ['1e-400', '1e-400', true],
  ['0e-400', null],
  ['0e999999999999999999999', null],
  ['1e99999999999999999999', '1e99999999999999999999'],
  ['{"a":9007199254740993,"b":1e400}', '9007199254740993', true],
  ['[0.1000000000000000055,9007199254740993]', '0.1000000000000000055', true],
  ['3.00000000000000000001', '3.00000000000000000001', true],
  ['0.1000000000000000055', '0.1000000000000000055'],
  ['0.30000000000000004', null],
  ['0.300000000000000040', null],
  ['0.10000000000000001', '0.10000000000000001'],
  ['5e-324', null],
  ['4e-324', '4e-324'],
  ['2.5E-3', null],
  ['1.0', null],
  ['100e-2', null],
  ['-0', null],
  ['-0.0e5', null],
  ['0.1', null],
  [`1${'0'.repeat(400)}e-400`, null],
  ['"9007199254740993"', null],
  ['{"9007199254740993":"1e400","a":" 1e400 "}', null],
];

describe('a number that changes when it is read', () => {
  test.each(NUMBERS)('%s', (text, inexact, integer = false) => {
    const read = parseExactJson(Buffer.from(text));
    expect(read.ambiguity).toBeNull();
    expect(read.inexact).toBe(inexact);
    expect(read.inexactInteger !== null).toBe(integer);
  });

  test('property: of all decimals, those that are let pass share no double', () => {
    const digits = fc.stringMatching(/^[1-9]\d{0,24}$/);
    const decimal = fc.tuple(digits, fc.integer({ min: 0, max: 24 }), fc.integer({ min: -330, max: 310 }));
    const spell = (whole: string, cut: number, exponent: number) =>
      `${whole.slice(0, Math.max(1, whole.length - cut))}.${whole.slice(Math.max(1, whole.length - cut)) || '0'}e${exponent}`;
    fc.assert(
      fc.property(decimal, fc.integer({ min: -2, max: 2 }), ([whole, cut, exponent], nudge) => {
        const other = String(BigInt(whole) + BigInt(nudge));
        const [a, b] = [spell(whole, cut, exponent), spell(other, cut, exponent)];
        if (whole.length !== other.length || other.startsWith('-') || Number(a) !== Number(b)) return;
        const passed = [a, b].filter((text) => parseExactJson(Buffer.from(`[${text}]`)).inexact === null);
        expect(passed.length).toBeLessThanOrEqual(whole === other ? 2 : 1);
      }),
      { numRuns: 2000 },
    );
  });

  test('property: what RFC 8785 writes never does', () => {
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (number) => {
        expect(parseExactJson(Buffer.from(`{"a":[${JSON.stringify(number)}]}`)).inexact).toBeNull();
      }),
    );
  });
});
