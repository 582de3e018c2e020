import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { RowMap } from '../../../src/core/rows/map.ts';
import { findBy, firstOf, type Rows, RowsBuilder } from '../../../src/core/rows/rows.ts';

interface Row {
  id: string;
  n: number;
  more?: string;
}

const ROWS: Row[] = Array.from({ length: 1000 }, (_, n) => ({ id: `id ${(n * 7919) % 1000} 𝕊`, n }));

function rowsOf(heldBytes: number, rows: readonly Row[] = ROWS): RowsBuilder<Row> {
  const builder = new RowsBuilder<Row>(heldBytes);
  for (const row of rows) builder.push(row);
  return builder;
}

describe.each([
  ['all in memory', 2 ** 20],
  ['all in a file', 0],
  ['begun in memory and moved to a file', 10_000],
])('rows, %s', (_where, heldBytes) => {
  const rows = rowsOf(heldBytes).finish();

  test.each<[what: string, of: (rows: Rows<Row>) => unknown]>([
    ['all', (all) => [...all]],
    ['length', (all) => all.length],
    ['map', (all) => all.map(({ id }) => id)],
    ['flatMap to lists', (all) => all.flatMap(({ id, n }) => (n % 2 === 0 ? [] : [id, n]))],
    ['flatMap to values', (all) => all.flatMap(({ id }) => id)],
    ['reduce', (all) => all.reduce((sum, { n }) => sum + n, 5)],
    ['some', (all) => [all.some(({ n }) => n === 999), all.some(({ n }) => n === 1000)]],
    ['every', (all) => [all.every(({ n }) => n < 1000), all.every(({ n }) => n < 999)]],
    ['find', (all) => [all.find(({ n }) => n === 500), all.find(({ n }) => n === -1)]],
    ['at', (all) => [0, 1, 500, 999, -1, -1000, 1000, -1001, 0.5].map((index) => all.at(index))],
    ['JSON', (all) => JSON.stringify({ all })],
    ['a filter', (all) => [...all.filter(({ n }) => n % 3 === 1)]],
    ['the length of a filter', (all) => all.filter(({ n }) => n % 3 === 1).length],
    ['at of a filter', (all) => [0, 7, -1, 333].map((index) => all.filter(({ n }) => n % 3 === 1).at(index))],
    [
      'a filter of a filter',
      (all) =>
        all
          .filter(({ n }) => n > 9)
          .filter(({ n }) => n < 20)
          .map(({ id }) => id),
    ],
    [
      'the first',
      (all) => [
        firstOf(all, 3),
        firstOf(
          all.filter(({ n }) => n > 997),
          3,
        ),
        firstOf(all, 0),
      ],
    ],
  ])('%s: as of an array', (_what, of) => {
    expect(of(rows)).toEqual(of(ROWS));
  });

  test('sorted by a text', () => {
    const sorted = rowsOf(heldBytes).finishSorted(({ id }) => id);
    const expected = ROWS.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect([...sorted]).toEqual(expected);
    expect([sorted.at(3), sorted.at(-1)]).toEqual([expected[3], expected.at(-1)]);
  });

  test('sorted by a text, of which several rows have the same: in their order', () => {
    const same = ROWS.map(({ id, n }) => ({ id: id.slice(0, 4), n }));
    const expected = same.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
    expect([...rowsOf(heldBytes, same).finishSorted(({ id }) => id)]).toEqual(expected);
    expect([...rowsOf(heldBytes, expected).finishSorted(({ id }) => id)]).toEqual(expected);
  });

  test('more rows than are sorted at once, many of them of the same text', () => {
    const many = Array.from({ length: 70_001 }, (_, n) => ({ id: `key ${(n * 7919) % 3001}`, n }));
    const expected = many.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
    const sorted = [...rowsOf(heldBytes, many).finishSorted(({ id }) => id)];
    expect(sorted).toHaveLength(many.length);
    expect(sorted.findIndex(({ n }, place) => n !== expected[place]?.n)).toBe(-1);
  });

  test('found by a text: the last row that has it', () => {
    const again = { id: 'id 3 𝕊', n: -1 };
    const find = findBy(rowsOf(heldBytes, [...ROWS, again, { id: 'last', n: -2 }]).finish(), ({ id }) => id);
    expect([find('id 3 𝕊'), find('id 4 𝕊'), find('last'), find('none')]).toEqual([
      again,
      ROWS.find(({ id }) => id === 'id 4 𝕊'),
      { id: 'last', n: -2 },
      undefined,
    ]);
  });

  test('rows larger than any block, beside small and empty ones', () => {
    const mixed = [
      { id: '', n: 1 },
      { id: 'ä'.repeat(400_000), n: 2 },
      { id: 'x', n: 3 },
      { id: '\n'.repeat(300_000), n: 4 },
    ];
    expect([...rowsOf(heldBytes, mixed).finish()]).toEqual(mixed);
  });

  test('several readers do not disturb each other', () => {
    const pairs = firstOf(rows, 5).map((row, index) => [row.n, firstOf(rows, 900).at(index)?.n]);
    expect(pairs).toEqual([0, 1, 2, 3, 4].map((n) => [n, n]));
    const iterators = [rows[Symbol.iterator](), rows[Symbol.iterator]()];
    const taken = ROWS.slice(0, 300).flatMap(() => iterators.map((iterator) => iterator.next().value?.n));
    expect(taken).toEqual(ROWS.slice(0, 300).flatMap(({ n }) => [n, n]));
  });
});

test('a file of rows has no name', () => {
  const named = () => readdirSync(tmpdir()).filter((name) => name.startsWith('evidence-rows-'));
  const before = named();
  const rows = rowsOf(0).finish();
  expect(rows.length).toBe(ROWS.length);
  expect(named()).toEqual(before);
});

test.each([0, 1, 63, 64, 65, 1000])('a map of %d keys finds each, and none beside them', (size) => {
  const keys = Array.from({ length: size }, (_, n) => `k${(n * 7919) % size}`);
  const map = RowMap.of(keys.map((key, n) => [key, { n }]));
  const known = new Map(keys.map((key, n) => [key, { n }]));
  expect(map.size).toBe(size);
  expect(new Map(map)).toEqual(known);
  expect([...map].map(([key]) => key)).toEqual([...keys].sort());
  for (const [key, value] of known) expect(map.get(key)).toEqual(value);
  for (const key of ['', 'a', 'k', 'k0x', 'k999x', 'z', '__proto__'])
    expect([map.has(key), map.get(key)]).toEqual([false, undefined]);
});

test('a map has any key, each once', () => {
  const map = RowMap.of([
    ['__proto__', 1],
    ['10', 2],
    ['9', 3],
    ['', null],
  ] as const);
  expect([...map]).toEqual([
    ['', null],
    ['10', 2],
    ['9', 3],
    ['__proto__', 1],
  ]);
  expect([map.has(''), map.get('')]).toEqual([true, null]);
  expect([
    ...RowMap.of([
      ['a', 1],
      ['a', 2],
    ]),
  ]).toEqual([['a', 1]]);
});
