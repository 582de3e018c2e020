import { expect, test } from 'vitest';
import { indentedJson } from '../../../src/core/json/indented.ts';

const VALUES = [
  null,
  3,
  'a\n"b"',
  [],
  {},
  [[], {}, [[]]],
  { a: undefined },
  { a: undefined, b: 1, c: undefined },
  { 'a\n"b"': ['line\n  feed', { c: [1, 2, [3, { d: null }]] }], e: {}, f: [], g: false },
];

test.each(VALUES)('%j is written as JSON.stringify writes it, however far it is taken apart', (value) => {
  for (const depth of [0, 1, 2, 3, 9])
    expect([...indentedJson(value, depth)].join('')).toBe(JSON.stringify(value, null, 2));
});

test('an iterable is a list whose members are made when they are written', () => {
  const made: number[] = [];
  const members = function* () {
    for (const number of [1, 2]) {
      made.push(number);
      yield { number };
    }
  };
  const pieces = indentedJson({ before: 0, list: members(), none: new Set() }, 2);
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (made.length === 1) expect(text).not.toContain('"number": 2');
  }
  expect(made).toEqual([1, 2]);
  expect(text).toBe(JSON.stringify({ before: 0, list: [{ number: 1 }, { number: 2 }], none: [] }, null, 2));
});
