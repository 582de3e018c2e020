import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_DEPTH } from '../../src/encoding/canonical.ts';
import { parseExactJson } from '../../src/encoding/json.ts';
import { thrownBy } from '../support/json.ts';

const TWICE = 'a member name occurs twice in one object';
const SURROGATE = 'a string contains a lone surrogate';
const UTF8 = 'the text is not valid UTF-8';
const lossy = (number: string) => `a double cannot hold the number ${number}`;

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
  ['9007199254740991', null],
  ['9007199254740992', null],
  ['9007199254740993', lossy('9007199254740993')],
  ['-9007199254740992', null],
  ['-9007199254740993', lossy('-9007199254740993')],
  ['[1,{"a":18014398509481985}]', lossy('18014398509481985')],
  ['123456789012345678901234567890', lossy('123456789012345678901234567890')],
  ['123456789012345677877719597056', null],
  // The double nearest to it, which a canonical writer writes like this: the very digits are what is hashed.
  ['67154556623969050', null],
  ['-123456789012345680000', null],
  ['67154556623969051', lossy('67154556623969051')],
  ['1e21', null],
  ['1e400', lossy('1e400')],
  ['[-1e400]', lossy('-1e400')],
  ['{"a":9007199254740993,"b":1e400}', lossy('9007199254740993')],
  ['-0', null],
  ['0.1', null],
  ['5e-324', null],
  ['"9007199254740993"', null],
];

describe('a text that could be read in two ways', () => {
  test.each(TEXTS)('%s', (text, ambiguity) => {
    const read = parseExactJson(Buffer.from(text));
    expect(read).toEqual({ value: JSON.parse(text), ambiguity });
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

/** Each pair: what is parsed first, and what V8 13.6 then reads wrongly in objects of the same shape. */
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
      expect(read).toEqual({ value: inner, ambiguity: null });
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

test('a number that is used as it is written may be larger than a double, and nothing else is forgiven', () => {
  const read = (text: string) => parseExactJson(Buffer.from(text), { numbers: 'text' }).ambiguity;
  expect(read('[9007199254740993,1e400,-123456789012345678901234567890]')).toBeNull();
  expect(read('{"a":9007199254740993,"a":1}')).toBe(TWICE);
  expect(read('["\\ud800",9007199254740993]')).toBe(SURROGATE);
});
