import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Json, MAX_DEPTH } from '../../../src/core/json/canonical.ts';
import { parseExactJson } from '../../../src/core/json/exact.ts';
import { readWritten, type Written, writtenWithout } from '../../../src/core/json/source-text.ts';
import { thrownBy } from '../../support/json.ts';

const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }).filter((text) => text.isWellFormed()),
  fc.constantFrom('"', '\\', '\\"', '{', '}]', ',', ':', ' ', 'a', 'b', 'c', '😀'),
);
const values = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(null, true, false, 0, -1.5, 1e21, 1e-7),
    words,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(words, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;
const objects = fc.dictionary(words, values, { maxKeys: 6, noNullPrototype: true });
const spaces = fc.infiniteStream(fc.constantFrom('', ' ', '\n', '\t', '\r\n', '  '));

/** Writes JSON text with white space at every permitted place. */
function write(value: Json, space: () => string): string {
  if (Array.isArray(value))
    return `[${space()}${value.map((item) => write(item, space)).join(`${space()},${space()}`)}${space()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}${space()}:${space()}${write(member, space)}`,
  );
  return `{${space()}${members.join(`${space()},${space()}`)}${space()}}`;
}

/** Parser other than JSON.parse, because V8 13 misreads names with escapes (json.test.ts). */
const parse = (text: string) => parseExactJson(Buffer.from(text)).value;

/** Expects every span to parse to its value. */
function expectSpans(text: string, node: Written, value: Json): void {
  expect(parse(text.slice(node.start, node.end))).toEqual(value);
  if (node.kind === 'string') expect(node.value).toBe(value);
  else if (node.kind === 'array') {
    expect(Array.isArray(value) && value.length).toBe(node.items.length);
    for (const [index, item] of node.items.entries()) expectSpans(text, item, (value as Json[])[index] as Json);
  } else if (node.kind === 'object') {
    const object = value as { [name: string]: Json };
    expect(node.members.map(({ name }) => name).toSorted()).toEqual(Object.keys(object).toSorted());
    for (const { name, start, value: inner } of node.members) {
      expect(text.slice(start, inner.start)).toMatch(/^"/);
      expect(parse(`{${text.slice(start, inner.end)}}`)).toEqual({ [name]: object[name] });
      expectSpans(text, inner, object[name] as Json);
    }
  } else expect(['number', 'boolean', 'object']).toContain(typeof value);
}

test('property: spans are those of the values, whatever white space stands between', () => {
  fc.assert(
    fc.property(values, spaces, (value, stream) => {
      const space = () => stream.next().value ?? '';
      const text = `${space()}${write(value, space)}${space()}`;
      expectSpans(text, readWritten(text), value);
    }),
    { numRuns: 500 },
  );
});

test('property: without some members it is the same object without them', () => {
  fc.assert(
    fc.property(objects, spaces, fc.infiniteStream(fc.boolean()), (object, stream, coins) => {
      const text = write(object, () => stream.next().value ?? '');
      const without = new Set(Object.keys(object).filter(() => coins.next().value));
      const left = writtenWithout(text, readWritten(text), without);
      expect(parse(left)).toEqual(Object.fromEntries(Object.entries(object).filter(([name]) => !without.has(name))));
      if (without.size === 0) expect(left).toBe(text);
    }),
    { numRuns: 500 },
  );
});

const SPACED = '{ "a" : 1 ,\n "b": [ 2 , 3 ]\t,"c"  :{"a":4} }';
const WITHOUT: [string, string, string[], string][] = [
  ['none', SPACED, [], SPACED],
  ['one that is not there', SPACED, ['d'], SPACED],
  ['the first', SPACED, ['a'], '{ "b": [ 2 , 3 ]\t,"c"  :{"a":4} }'],
  ['one in the middle', SPACED, ['b'], '{ "a" : 1\t,"c"  :{"a":4} }'],
  ['the last', SPACED, ['c'], '{ "a" : 1 ,\n "b": [ 2 , 3 ] }'],
  ['first and last', SPACED, ['a', 'c'], '{ "b": [ 2 , 3 ] }'],
  ['the first two', SPACED, ['a', 'b'], '{ "c"  :{"a":4} }'],
  ['all', SPACED, ['a', 'b', 'c'], '{  }'],
  ['the only one', '{"a":1}', ['a'], '{}'],
  ['of an empty object', '{ }', ['a'], '{ }'],
  ['a name with escapes', '{"\\u0061":1,"b":2}', ['a'], '{"b":2}'],
  ['of an array', '[{"a":1}]', ['a'], '[{"a":1}]'],
  ['of a string', '"a"', ['a'], '"a"'],
];

test.each(WITHOUT)('without %s', (_words, text, without, expected) => {
  expect(writtenWithout(text, readWritten(text), new Set(without))).toBe(expected);
});

test('numbers keep their digits', () => {
  const text = '[ 1.50 ,-0,1E5,9007199254740993 ]';
  const node = readWritten(text);
  const items = node.kind === 'array' ? node.items : [];
  expect(items.map(({ start, end }) => text.slice(start, end))).toEqual(['1.50', '-0', '1E5', '9007199254740993']);
});

describe('limits', () => {
  test('what is nested deepest is read, and no deeper', () => {
    const nest = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(readWritten(nest(MAX_DEPTH))).toMatchObject({ kind: 'array', end: 2 * MAX_DEPTH });
    expect(thrownBy(() => readWritten(nest(MAX_DEPTH + 1)))).toMatchObject({ code: 'unreadable' });
  });

  test.each(['a', '\\n', '\\"', '😀'])('a string of 40 MB of %s', (sign) => {
    const text = `{"a":"${sign.repeat(40_000_000 / sign.length)}","b":1}`;
    expect(writtenWithout(text, readWritten(text), new Set(['a']))).toBe('{"b":1}');
  });
});
