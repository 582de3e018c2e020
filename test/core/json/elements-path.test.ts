import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json/canonical.ts';
import { ElementScanner } from '../../../src/core/json/elements.ts';
import { parseExactJson } from '../../../src/core/json/exact.ts';
import { thrownBy } from '../../support/json.ts';

interface Scan {
  elements: Json[];
  heads: Json[];
  rest: Json;
  ambiguity: string | null;
}

function scan(path: string, text: string, cuts: Iterable<number> = []): Scan {
  const bytes = Buffer.from(text);
  const elements: Json[] = [];
  const heads: Json[] = [];
  const scanner = new ElementScanner(path === '' ? [] : path.split('.'), {
    onHead: (head) => heads.push(head),
    onElement: (element, members) => elements.push(parseExactJson(element, { members }).value),
  });
  let at = 0;
  for (const cut of [...cuts, bytes.length]) {
    const piece = Buffer.from(bytes.subarray(at, cut));
    scanner.push(piece);
    piece.fill(0x22);
    at = Math.max(at, cut);
  }
  const { value, ambiguity } = scanner.finish();
  return { elements, heads, rest: value, ambiguity };
}

/** Yields cuts: none, one at every offset, and one at every byte. */
function* cutsOf(text: string): Generator<number[]> {
  const length = Buffer.byteLength(text);
  yield [];
  for (let cut = 0; cut <= length; cut++) yield [cut];
  yield Array.from({ length }, (_, index) => index);
}

const FOUND: [words: string, path: string, text: string, head: Json][] = [
  ['the document is the array', '', ' [ {"n":1} , {"n":2,"entries":[{"n":0}]} ] ', []],
  ['elements that hold arrays of objects', '', '[{"a":[{"n":0}]},{"b":{"c":[{}]}}]', []],
  ['one level in', 'a.b', '{"a":{"b":[{"n":1},{"n":2}]},"z":1}', { a: { b: [] } }],
  [
    'three levels in',
    'a.b.c',
    '{"x":0,"a":{"y":[1],"b":{"c":[{"n":1}],"d":[{"n":0}]}}}',
    { x: 0, a: { y: [1], b: { c: [] } } },
  ],
  [
    'names alike on the way',
    'a.a.a',
    '{"a":{"b":{"a":[{"n":0}]},"a":{"a":[{"n":1}]}}}',
    { a: { b: { a: [{ n: 0 }] }, a: { a: [] } } },
  ],
  ['the last name at the top', 'a.b', '{"b":[{"n":0}],"a":{"b":[{"n":1}]}}', { b: [{ n: 0 }], a: { b: [] } }],
  ['the last name deeper', 'a.b', '{"a":{"c":{"b":[{"n":0}]},"b":[{"n":1}]}}', { a: { c: { b: [{ n: 0 }] }, b: [] } }],
  [
    'the path below another member',
    'a.b',
    '{"x":{"a":{"b":[{"n":0}]}},"a":{"b":[{"n":1}]}}',
    { x: { a: { b: [{ n: 0 }] } }, a: { b: [] } },
  ],
  [
    'the path within an array',
    'a.b',
    '{"x":[{"a":{"b":[{"n":0}]}}],"a":{"b":[{"n":1}]}}',
    { x: [{ a: { b: [{ n: 0 }] } }], a: { b: [] } },
  ],
  [
    'the path in a string',
    'a.b',
    '{"x":"{\\"a\\":{\\"b\\":[{","a":{"b":[{"n":1}]}}',
    { x: '{"a":{"b":[{', a: { b: [] } },
  ],
  [
    'names as values',
    'a.b',
    '{"x":"a","y":{"z":"b"},"a":{"w":"b","b":[{"n":1}]}}',
    { x: 'a', y: { z: 'b' }, a: { w: 'b', b: [] } },
  ],
  ['names with escapes', 'a.b', '{"\\u0061":{"\\u0062":[{"n":1}]}}', { a: { b: [] } }],
  ['a name that holds the dot', 'a.b', '{"a.b":[{"n":0}],"a":{"b":[{"n":1}]}}', { 'a.b': [{ n: 0 }], a: { b: [] } }],
  [
    'empty objects before it',
    'a.b',
    '{"x":{},"a":{"y":{},"z":[],"b":[{"n":1}]},"v":{}}',
    { x: {}, a: { y: {}, z: [], b: [] } },
  ],
  [
    'white space everywhere',
    'a.b',
    ' {\n"a"\t: { "b" : [ { "n" : 1 } , { } ] , "c" : 1 } , "d" : [ ] } ',
    { a: { b: [] } },
  ],
];

describe('the array at a path', () => {
  test.each(FOUND)('%s, cut at every offset', (_words, path, text, head) => {
    const whole = JSON.parse(text);
    const names = path === '' ? [] : path.split('.');
    const elements = names.reduce((here, name) => here[name], whole) as Json[];
    const copy: Json = JSON.parse(text);
    const array = names.reduce<Json>((here, name) => (here as { [name: string]: Json })[name] as Json, copy) as Json[];
    const length = array.length;
    array.splice(0, length);
    for (const cuts of cutsOf(text)) {
      const read = scan(path, text, cuts);
      expect(read).toMatchObject({ elements, rest: copy, ambiguity: null });
      expect(read.heads).toEqual([head]);
    }
    expect(length).toBeGreaterThan(0);
  });

  test('an array without elements has no head', () => {
    for (const [path, text] of [
      ['', ' [ ] '],
      ['a.b', '{"a":{"b":[]}}'],
    ] as const)
      for (const cuts of cutsOf(text)) expect(scan(path, text, cuts)).toMatchObject({ elements: [], heads: [] });
  });
});

const MISSING: [words: string, path: string, text: string, message: string][] = [
  ['an object where the array should be', 'a.b', '{"a":{"b":{"b":[{"n":0}]}}}', 'the document has no array "a.b"'],
  ['a number', 'a.b', '{"a":{"b":7}}', 'the document has no array "a.b"'],
  ['null', 'a.b', '{"a":{"b":null}}', 'the document has no array "a.b"'],
  ['a string', 'a.b', '{"a":{"b":"[{}]"}}', 'the document has no array "a.b"'],
  ['an array on the way', 'a.b', '{"a":[{"b":[{"n":0}]}]}', 'the document has no array "a.b"'],
  ['arrays in each other under a name of the path', 'a.a', '{"a":[[{"n":0}]]}', 'the document has no array "a.a"'],
  ['a number on the way', 'a.b', '{"a":1,"b":[{"n":0}]}', 'the document has no array "a.b"'],
  ['nothing on the way', 'a.b', '{"b":[{"n":0}]}', 'the document has no array "a.b"'],
  ['only the path within an array', 'a.b', '[{"a":{"b":[{"n":0}]}}]', 'the document has no array "a.b"'],
  ['the document is the array, but of a path', 'a.b', '[{"n":0}]', 'the document has no array "a.b"'],
  ['an object instead of the array', '', '{"entries":[{"n":0}]}', 'the document is not an array'],
  ['a string instead of the array', '', '"[{}]"', 'the document is not an array'],
];

test.each(MISSING)('%s is no result, however it is cut', (_words, path, text, message) => {
  for (const cuts of cutsOf(text))
    expect(thrownBy(() => scan(path, text, cuts))).toMatchObject({ code: 'unreadable', message });
});

test.each([
  ['a second array of the name', 'a.b', '{"a":{"b":[{"n":1}],"b":[{"n":2}]}}'],
  ['a second array after an empty one', 'a.b', '{"a":{"b":[],"b":[{"n":2}]}}'],
  ['a second member on the way', 'a.b', '{"a":{"b":[{"n":1}]},"a":{"b":[{"n":2}]}}'],
  ['a member on the way that was something else before', 'a.b', '{"a":{"x":1},"a":{"b":[{"n":2}]}}'],
])('%s is ambiguous, however it is cut', (_words, path, text) => {
  for (const cuts of cutsOf(text))
    expect(scan(path, text, cuts).ambiguity).toBe('a member name occurs twice in one object');
});

test.each([
  ['a bare array', '', '[{"n":1},{"n":2}]'],
  ['a nested one', 'a.b', '{"a":{"b":[{"n":1}]},"z":1}'],
])('%s that is cut off is never a result', (_words, path, text) => {
  for (let end = 1; end < text.length; end++)
    expect(
      thrownBy(() => scan(path, text.slice(0, end))),
      text.slice(0, end),
    ).toMatchObject({
      code: 'unreadable',
      message: `the document is cut off after ${end} bytes`,
    });
});

test.each(['[{"n":1}]]', '[{"n":1}] []', '[{"n":1}][{"n":2}]', '[{"n":1}],', '][{"n":1}]', '[1]', '[[{"n":1}]]'])(
  'a bare array and more, or of something else: %s',
  (text) => {
    for (const cuts of cutsOf(text)) expect(thrownBy(() => scan('', text, cuts))).toMatchObject({ code: 'unreadable' });
  },
);
