import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Json, MAX_DEPTH } from '../../../src/core/json/canonical.ts';
import { type ElementLimits, ElementScanner } from '../../../src/core/json/elements.ts';
import { parseExactJson } from '../../../src/core/json/exact.ts';
import { thrownBy } from '../../support/json.ts';

interface Scan {
  elements: Json[];
  heads: Json[];
  rest: Json;
  ambiguity: string | null;
}

/** Reads a document in pieces that are overwritten after each push, as a reused read buffer would be. */
function scan(text: string | Uint8Array, cuts: Iterable<number> = [], limits: Partial<ElementLimits> = {}): Scan {
  const bytes = Buffer.from(text);
  const result: Scan = { elements: [], heads: [], rest: null, ambiguity: null };
  const scanner = new ElementScanner(
    ['entries'],
    {
      onHead: (head) => result.heads.push(head),
      onElement: (element, members) => {
        const { value, ambiguity } = parseExactJson(element, { members });
        expect(ambiguity).toBeNull();
        result.elements.push(value);
      },
    },
    limits,
  );
  let at = 0;
  for (const cut of [...cuts, bytes.length]) {
    const piece = Buffer.from(bytes.subarray(at, cut));
    scanner.push(piece);
    piece.fill(0x22);
    at = Math.max(at, cut);
  }
  const { value, ambiguity } = scanner.finish();
  return { ...result, rest: value, ambiguity };
}

/** Reads the document with JSON.parse. */
function expectedOf(text: string): Pick<Scan, 'elements' | 'rest'> {
  const document = JSON.parse(text) as { [name: string]: Json };
  return { elements: document['entries'] as Json[], rest: { ...document, entries: [] } };
}

const DECOYS: [string, string][] = [
  ['plain', '{"a":1,"entries":[{"n":1},{"n":2}],"z":[{"n":3}]}'],
  ['no element', '{"entries":[]}'],
  ['no element, white space', ' { "entries" : [ \n\t\r ] } '],
  ['first of all', '{"entries":[{}],"a":{"entries":[{"no":1}]}}'],
  ['a string that looks like the array', '{"a":"\\"entries\\":[{\\"n\\":0}]","entries":[{"n":1}]}'],
  ['a name that looks like the array', '{"\\"entries\\":[{":"x","entries":[{"n":1}]}'],
  ['an array of this name further in', '{"a":{"entries":[{"n":0}]},"entries":[{"n":1}]}'],
  ['an array of this name in an array', '{"a":[{"entries":[{"n":0}]},["entries",[{}]]],"entries":[{"n":1}]}'],
  ['the name as a value', '{"a":"entries","b":[{"n":0}],"entries":[{"n":1}]}'],
  ['an escaped name', '{"entr\\u0069es":[{"n":1}]}'],
  ['an escaped quote in the name before', '{"x\\"":[],"entries":[{"n":1}]}'],
  ['a name that only begins so', '{"entries ":[{"n":0}],"entriesx":[{"n":0}],"entries":[{"n":1}]}'],
  ['brackets in strings', '{"a":"]}[{","entries":[{"s":"}]\\\\"},{"t":"{[\\""}],"b":"]"}'],
  ['deep elements', '{"entries":[{"a":{"b":[{"c":[[]]}]},"entries":[{"d":1}]}]}'],
  ['text beyond ASCII', '{"ä":"😀","entries":[{"ü":"\\ud83d\\ude00€"}],"ß":"日本"}'],
  ['white space everywhere', '\n{ "a" : [ 1 , 2 ] ,\t"entries"\r: [ { "n" : 1 } , { "n" : 2 } ] , "b" : { } }\n '],
];

describe('elements and rest are what JSON.parse sees', () => {
  test.each(DECOYS)('%s, cut in two at every offset', (_words, text) => {
    const { elements, rest } = expectedOf(text);
    for (let cut = 0; cut <= Buffer.byteLength(text); cut++)
      expect(scan(text, [cut])).toMatchObject({ elements, rest, ambiguity: null });
  });

  test.each(DECOYS)('%s, byte by byte', (_words, text) => {
    const { elements, rest } = expectedOf(text);
    const cuts = Array.from({ length: Buffer.byteLength(text) }, (_, index) => index);
    expect(scan(text, cuts)).toMatchObject({ elements, rest, ambiguity: null });
  });
});

const words = fc.oneof(
  fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
  fc.constantFrom('entries', '"entries":[{', '\\', '"', '}]', '\\"', '[{}]', ':', ','),
);
const values = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false, 0, -1.5, 1e21),
    words,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(words, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;
const objects = fc.dictionary(words, values, { maxKeys: 5, noNullPrototype: true });
const members = fc.dictionary(
  words.filter((name) => name !== 'entries'),
  values,
  { maxKeys: 4, noNullPrototype: true },
);
const spaces = fc.infiniteStream(fc.constantFrom('', ' ', '\n', '\t', '\r\n', '  '));

/** Writes JSON text with white space at every permitted place. */
function write(value: Json, space: () => string): string {
  if (Array.isArray(value))
    return `[${space()}${value.map((item) => write(item, space)).join(`${space()},${space()}`)}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${space()}${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}${space()}:${space()}${write(member, space)}${space()}`)
    .join(`,${space()}`)}}`;
}

test('property: any document, white space anywhere, cut anywhere', () => {
  fc.assert(
    fc.property(
      members,
      fc.array(objects, { maxLength: 6 }),
      members,
      spaces,
      fc.array(fc.nat(400), { maxLength: 12 }),
      (before, elements, after, stream, offsets) => {
        const space = () => stream.next().value ?? '';
        const later = Object.fromEntries(Object.entries(after).filter(([name]) => !Object.hasOwn(before, name)));
        const text = write({ ...before, entries: elements, ...later }, space);
        const length = Buffer.byteLength(text);
        const cuts = offsets.map((offset) => offset % (length + 1)).toSorted((a, b) => a - b);
        const read = scan(text, cuts);
        // No comparison with JSON.parse, because V8 13 misreads names with escapes (json.test.ts).
        expect(read).toMatchObject({ elements, rest: { ...before, entries: [], ...later }, ambiguity: null });
        expect(read.heads).toHaveLength(elements.length === 0 ? 0 : 1);
      },
    ),
    { numRuns: 500 },
  );
});

test('the head is what precedes the array, and comes before the first element', () => {
  const order: string[] = [];
  const scanner = new ElementScanner(['entries'], {
    onHead: (head) => order.push(`head ${JSON.stringify(head)}`),
    onElement: (bytes) => order.push(Buffer.from(bytes).toString()),
  });
  scanner.push(Buffer.from('{"a":{"b":1},"entries":[ {"n":1},{"n":2}],"z":1}'));
  scanner.finish();
  expect(order).toEqual(['head {"a":{"b":1},"entries":[]}', '{"n":1}', '{"n":2}']);
});

test('a head that is not JSON is null, and the document unreadable', () => {
  const heads: Json[] = [];
  const scanner = new ElementScanner(['entries'], { onHead: (head) => heads.push(head), onElement: () => {} });
  scanner.push(Buffer.from('{"a":nothing,"entries":[{"n":1}]}'));
  expect(heads).toEqual([null]);
  expect(thrownBy(() => scanner.finish())).toMatchObject({ code: 'unreadable' });
});

test.each([
  ['{"n":1,"n":2}', 2],
  ['{"a":{"b":":"},"c":[{"d":1},{}]}', 4],
  ['{}', 0],
])('the members of %s are counted, duplicates included', (element, count) => {
  const counts: number[] = [];
  const scanner = new ElementScanner(['entries'], { onElement: (_bytes, found) => counts.push(found) });
  for (const byte of Buffer.from(`{"a:":1,"entries":[${element},${element}]}`)) scanner.push(Uint8Array.of(byte));
  scanner.finish();
  expect(counts).toEqual([count, count]);
});

describe('a document that is cut off is never a result', () => {
  test.each(DECOYS)('%s', (_words, text) => {
    const bytes = Buffer.from(text.trim());
    for (let end = 0; end < bytes.length; end++)
      expect(
        thrownBy(() => scan(bytes.subarray(0, end))),
        bytes.subarray(0, end).toString(),
      ).toMatchObject({
        code: 'unreadable',
        message: end === 0 ? expect.stringMatching('not JSON') : `the document is cut off after ${end} bytes`,
      });
  });
});

describe('unreadable, however it is cut', () => {
  const cases: [string, string, RegExp][] = [
    ['a comma before the first element', '{"entries":[,{}]}', /byte 12 .* not an object/],
    ['a trailing comma', '{"entries":[{},]}', /byte 15 .* not an object/],
    ['two commas', '{"entries":[{},,{}]}', /byte 15 .* not an object/],
    ['no comma', '{"entries":[{}{}]}', /byte 14 .* not a comma/],
    ['a word between elements', '{"entries":[{} x {}]}', /byte 15 .* not a comma/],
    ['a number', '{"entries":[1]}', /byte 12 .* not an object/],
    ['a string', '{"entries":[{},"x"]}', /byte 15 .* not an object/],
    ['null', '{"entries":[null]}', /byte 12 .* not an object/],
    ['an array', '{"entries":[[{}]]}', /byte 12 .* not an object/],
    ['the array closed by a brace', '{"entries":[{}}', /byte 14 .* not a comma/],
    ['mismatched brackets in an element', '{"entries":[{"a":[}]}', /not JSON/],
    ['mismatched brackets around it', '{"a":[},"entries":[{}]}', /./],
    ['brackets that only close', ']]', /not JSON/],
    ['an element that is not JSON', '{"entries":[{"a" 1}]}', /not JSON/],
    ['a document after the document', '{"entries":[{}]} {}', /not JSON/],
    ['a bracket after the document', '{"entries":[{}]}]', /not JSON/],
    ['a string where a name should be', '{"entries" "x":[{}]}', /not JSON/],
    ['no array of this name', '{"a":[{}]}', /no array "entries"/],
    ['an object of this name', '{"entries":{"a":[{}]}}', /no array "entries"/],
    ['a string of this name', '{"entries":"[{}]"}', /no array "entries"/],
    ['an array at the top', '["entries",[{}]]', /no array "entries"/],
    ['the array within an array', '[{"entries":[{}]}]', /no array "entries"/],
    ['a scalar', '"entries"', /no array "entries"/],
    ['depth in the rest', `{"a":${'['.repeat(MAX_DEPTH)}`, /byte 260 .* nested deeper/],
    ['depth in an element', `{"entries":[{"a":${'['.repeat(100_000)}`, /nested deeper/],
    ['a byte order mark', '\ufeff{"entries":[{}]}', /not JSON/],
  ];
  test.each(cases)('%s', (_words, text, message) => {
    const bytes = Buffer.byteLength(text);
    const everywhere = bytes < 1000 ? Array.from({ length: bytes }, (_, index) => index) : [bytes >> 1];
    for (const cuts of [[], everywhere])
      expect(thrownBy(() => scan(text, cuts))).toMatchObject({
        code: 'unreadable',
        message: expect.stringMatching(message),
      });
  });
});

test('two arrays of the name: the first one counts, and the document is ambiguous', () => {
  const read = scan('{"entries":[{"n":1}],"entries":[{"n":2}]}');
  expect(read.elements).toEqual([{ n: 1 }]);
  expect(read.ambiguity).toBe('a member name occurs twice in one object');
  expect(scan('{"entries":5,"entr\\u0069es":[{"n":2}]}').ambiguity).toBe('a member name occurs twice in one object');
});

describe('limits', () => {
  const element = '{"a":"0123456789"}';
  const rest = '{"rest":"0123456789","entries":[]}';
  const cases: [string, string, Partial<ElementLimits>, boolean][] = [
    ['an element of the limit', `{"entries":[${element}]}`, { maxElementBytes: element.length }, true],
    ['an element beyond it', `{"entries":[${element}]}`, { maxElementBytes: element.length - 1 }, false],
    ['many small elements', `{"entries":[${Array(50).fill(element)}]}`, { maxElementBytes: 20 }, true],
    ['a rest of the limit', rest, { maxRestBytes: rest.length }, true],
    ['a rest beyond it', rest, { maxRestBytes: rest.length - 1 }, false],
    ['as many values as the limit', `{"entries":[{"a":[1,{},3]}]}`, { maxValues: 5 }, true],
    ['one value more', `{"entries":[{"a":[1,{},3]}]}`, { maxValues: 4 }, false],
    ['values of many elements', `{"entries":[${Array(50).fill('{"a":[1,2,3]}')}]}`, { maxValues: 5 }, true],
    ['a rest of as many values', '{"a":[[],[]],"entries":[]}', { maxValues: 7 }, true],
    ['a rest of one more', '{"a":[[],[]],"entries":[]}', { maxValues: 6 }, false],
    ['elements are no rest', `{"entries":[${Array(50).fill(element)}]}`, { maxRestBytes: 14 }, true],
  ];
  test.each(cases)('%s', (_words, text, limits, fits) => {
    for (const cuts of [[], Array.from({ length: text.length }, (_, index) => index)]) {
      const error = thrownBy(() => scan(text, cuts, limits));
      if (fits) expect(error).toBeNull();
      else
        expect(error).toMatchObject({
          code: 'unreadable',
          message: expect.stringMatching(/(has|holds) more than \d+ (bytes|values)$/),
        });
    }
  });

  test('an endless element ends the reading long before its end', () => {
    const scanner = new ElementScanner(['entries'], { onElement: () => {} }, { maxElementBytes: 1000 });
    scanner.push(Buffer.from('{"entries":[{"a":"'));
    const read = () => {
      for (let piece = 0; piece < 100; piece++) scanner.push(Buffer.alloc(100, 0x61));
    };
    expect(thrownBy(read)).toMatchObject({ code: 'unreadable' });
  });
});

test('what a handler throws ends the reading', () => {
  const defect = new TypeError('the handler broke');
  const scanner = new ElementScanner(['entries'], {
    onElement: () => {
      throw defect;
    },
  });
  expect(thrownBy(() => scanner.push(Buffer.from('{"entries":[{}]}')))).toBe(defect);
});
