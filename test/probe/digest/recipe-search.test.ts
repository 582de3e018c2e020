import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { toHmacKey } from '../../../src/core/digest.ts';
import type { SearchResult } from '../../../src/probe/digest/recipe-bench.ts';
import { materialOf, subsetsBySize } from '../../../src/probe/digest/recipe-candidates.ts';
import { searchRecipe } from '../../../src/probe/digest/recipe-search.ts';
import { findChains, numberAt } from '../../../src/probe/roles/chain.ts';
import type { Sample } from '../../../src/probe/sample/sample.ts';
import type { Description } from '../../../src/verifier/profile/description.ts';
import type { PreimagePart } from '../../../src/verifier/profile/digest-description.ts';
import { DEFAULT_DESCRIPTION } from '../../../src/verifier/reading/default-contract.ts';
import { chainOf, type PlainEntry, sha256, streamOf } from '../sample-service.ts';

interface Options {
  isPython?: boolean;
  keys?: Record<string, string>;
  keyField?: string;
  isOver?: () => boolean;
}

function search(
  entries: readonly object[],
  { isPython = false, keys = {}, keyField, isOver = () => false }: Options = {},
): SearchResult {
  const stream = streamOf('s', entries);
  const [roles] = findChains([stream]);
  if (roles === undefined) throw new Error('the sample has no chain');
  const description: Description = {
    ...DEFAULT_DESCRIPTION,
    entry: {
      ...DEFAULT_DESCRIPTION.entry,
      stream_id: null,
      entry_id: null,
      timestamp: null,
      sequence: roles.sequence,
      previous: roles.previous,
      digest: roles.digest,
    },
    digest: { encoding: 'hex', prefix: '', genesis: 'zeros', recipe: null },
    seal: null,
  };
  return searchRecipe({
    description,
    roles,
    entries: stream.entries,
    keys: new Map(Object.entries(keys).map(([id, key]) => [id, toHmacKey(Buffer.from(key))])),
    keyField: keyField ?? null,
    material: materialOf(stream.entries, roles, null, isPython, []),
    isOver,
  });
}

type Open = Omit<PlainEntry, 'digest'>;
const without = ({ before: _, ...rest }: Open) => JSON.stringify(rest);

const dialects: [name: string, make: (entry: Open) => string, expected: PreimagePart[]][] = [
  [
    'the entry as it is sent',
    (entry) => JSON.stringify(entry),
    [{ json: { form: 'python', separators: 'compact', ascii: false, sort_keys: false, without: ['digest'] } }],
  ],
  [
    'the digest before it, then the rest',
    (entry) => entry.before + without(entry),
    [
      'previous',
      {
        json: { form: 'python', separators: 'compact', ascii: false, sort_keys: false, without: ['digest', 'before'] },
      },
    ],
  ],
  [
    'the rest, a colon, the digest before it',
    (entry) => `${without(entry)}:${entry.before}`,
    [
      {
        json: { form: 'python', separators: 'compact', ascii: false, sort_keys: false, without: ['digest', 'before'] },
      },
      { text: ':' },
      'previous',
    ],
  ],
  [
    'some fields joined in the order they are sent',
    ({ stream, at, before }) => [stream, at, before].join('|'),
    [{ join: { separator: '|', fields: ['stream', 'at', 'before'], null_as: '' } }],
  ],
  [
    'some fields joined in an order of their own',
    ({ n, who, at, before }) => [at, before, n, who].join('-'),
    [{ join: { separator: '-', fields: ['at', 'before', 'n', 'who'], null_as: '' } }],
  ],
  [
    'fields joined, and an object as JSON',
    ({ before, n, who, data }) => `${before}:${n}:${who}:${JSON.stringify(data)}`,
    [
      { join: { separator: ':', fields: ['before', 'n', 'who'], null_as: '' } },
      { text: ':' },
      { json: { form: 'python', separators: 'compact', ascii: false, sort_keys: false, of: 'data' } },
    ],
  ],
];

describe('finds the recipe', () => {
  test.each(dialects)('%s', (_, make, preimage) => {
    const { found } = search(chainOf('s', 25, (entry) => sha256(make(entry))));
    expect(found?.reproduces).toBe(25);
    expect(found?.digest.recipe).toEqual({ algorithm: 'sha-256', key: null, preimage });
  });

  test('with what the first entry hashes instead of what it sends', () => {
    const make = (entry: Open) => sha256(`${entry.n === 1 ? 'GENESIS' : entry.before}|${without(entry)}`);
    expect(search(chainOf('s', 25, make)).found?.digest.genesis_hashed_as).toBe('GENESIS');
  });

  test('that needs a key, by the field that names it', () => {
    const keys = { k1: 'one key', k2: 'another key' };
    const make = (entry: Open) =>
      createHmac('sha256', entry.n % 2 === 0 ? keys.k1 : keys.k2)
        .update(entry.before + entry.at)
        .digest('hex');
    const entries = chainOf('s', 25, make).map((entry) => ({ ...entry, kid: entry.n % 2 === 0 ? 'k1' : 'k2' }));
    expect(search(entries, { keyField: 'kid' }).found).toBeNull();
    const { found } = search(entries, { keys, keyField: 'kid' });
    expect(found?.digest.recipe?.key).toEqual({ field: 'kid' });
    expect(found?.reproduces).toBe(25);
    // Samples without a given key prove nothing and refute nothing.
    expect(search(entries, { keys: { k1: keys.k1 }, keyField: 'kid' }).found?.reproduces).toBe(12);
  });
});

describe('where entries were edited', () => {
  test.each([
    ['one of many', 100, [58]],
    ['the first that it is tried with', 100, [2]],
    ['the first of the stream', 100, [1]],
    ['five of a hundred', 100, [2, 26, 50, 58, 99]],
    ['one of five', 5, [3]],
  ])('%s: the recipe of the others is found, and they are named', (_, length, numbers) => {
    const { found } = search(edited(chainOf('s', length), ...numbers));
    expect(found?.reproduces).toBe(length - numbers.length);
    expect(numbersOf(found?.misses)).toEqual(numbers);
  });

  test('what only one entry tells apart is no edit: the recipe that holds for all is found', () => {
    const make = ({ before, n, note }: Open & { note?: null }) =>
      sha256([before, n, note === null ? 'None' : 'x'].join('|'));
    const entries = chainOf('s', 40, (entry) => make(entry.n === 30 ? { ...entry, note: null } : entry));
    const { found } = search(entries.map((entry) => ({ ...entry, note: entry.n === 30 ? null : 'x' })));
    expect(found?.misses).toEqual([]);
    expect(found?.reproduces).toBe(40);
  });

  test('one whose digest another recipe makes does not speak for the others', () => {
    const entries = chainOf('s', 40);
    const decoy = entries.map((entry) =>
      entry.n === 2 ? { ...entry, digest: sha256(entry.before + without(entry)) } : entry,
    );
    expect(numbersOf(search(decoy).found?.misses)).toEqual([2]);
  });
});

describe('refuses', () => {
  test('a recipe that reproduces eighteen of twenty, and says which came closest', () => {
    const { found, nearest, gaveUp } = search(edited(chainOf('s', 20), 4, 13));
    expect(found).toBeNull();
    expect(nearest?.reproduces).toBe(18);
    expect(numbersOf(nearest?.misses)).toEqual([4, 13]);
    expect(gaveUp).toBe(false);
  });

  test('the recipe of half of the entries, where the service changed it', () => {
    const entries = chainOf('s', 40, (entry) => sha256(entry.n <= 20 ? JSON.stringify(entry) : without(entry)));
    const { found, nearest } = search(entries);
    expect(found).toBeNull();
    expect(nearest?.reproduces).toBe(20);
  });

  test('digests of something that is not sent', () => {
    expect(search(chainOf('s', 20, (entry) => sha256(`secret ${entry.n}`)))).toMatchObject({
      found: null,
      nearest: null,
    });
  });

  test('to go on when the time is over, and says so', () => {
    let looks = 0;
    const result = search(
      chainOf('s', 20, (entry) => sha256(`secret ${entry.n}`)),
      { isOver: () => ++looks > 3 },
    );
    expect(result).toMatchObject({ found: null, gaveUp: true });
    expect(result.tried).toBeLessThan(1000);
  });
});

describe('of several that reproduce the samples', () => {
  const plain = (entry: Open) =>
    JSON.stringify({ at: entry.at, before: entry.before, n: entry.n, stream: entry.stream });
  const entries = chainOf('s', 20, (entry) => sha256(plain(entry))).map(({ at, before, n, stream, digest }) => ({
    at,
    before,
    n,
    stream,
    digest,
  }));

  test('RFC 8785 is taken, and the others are named', () => {
    const { found } = search(entries);
    expect(found?.words).toContain('jcs');
    expect(found?.alternatives.some((words) => words.includes('python-json[compact, ascii, sorted]'))).toBe(true);
    expect(found?.alternatives.some((words) => words.includes('json-as-sent'))).toBe(true);
  });

  test("Python's is taken for a service that is written in it", () => {
    expect(search(entries, { isPython: true }).found?.words).toContain('python-json[compact, ascii, sorted]');
  });
});

test('names what the digest says nothing about', () => {
  const { found } = search(chainOf('s', 20, ({ stream, n, before }) => sha256(`${stream}|${n}|${before}`)));
  expect(found?.unhashed).toEqual(expect.arrayContaining(['at', 'who', 'data']));
  expect(found?.unhashed).not.toContain('digest');
});

test('subsets come by their size, each once', () => {
  expect([...subsetsBySize(['a', 'b', 'c'], 0, 2)]).toEqual([
    [],
    ['a'],
    ['b'],
    ['c'],
    ['a', 'b'],
    ['a', 'c'],
    ['b', 'c'],
  ]);
});

function edited(entries: readonly PlainEntry[], ...numbers: number[]): PlainEntry[] {
  return entries.map((entry) => (numbers.includes(entry.n) ? { ...entry, who: 'mallory' } : entry));
}

function numbersOf(samples: readonly Sample[] = []): number[] {
  return samples.map(({ value }) => numberAt(value, 'n'));
}
