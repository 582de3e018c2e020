import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../../src/platform/database/database.ts';
import type { BlockRange } from '../../../src/platform/database/postings.ts';
import { DATABASES, type DatabasePlace } from './databases.ts';

/** Terms of blocks at both ends of sections, next to each other, and far apart; null for too many terms. */
const BLOCKS = new Map<number, number[] | null>([
  [0, [1, 2]],
  [1, [1, 2 ** 32 - 1]],
  [2047, [1, 3]],
  [2048, [1, 2, 3]],
  [2049, null],
  [5000, [2, 3]],
  [30_000, [1, 2 ** 31]],
  [34_815, [1, 2]],
  [34_816, [3]],
  [34_817, null],
  [70_000, [1, 2, 3]],
]);
const LAST = 70_000;

const GROUPS: number[][][] = [
  [[1]],
  [[2]],
  [[4]],
  [[2 ** 32 - 1]],
  [[2 ** 31]],
  [[1], [2]],
  [[1, 2]],
  [[2, 2 ** 31, 4]],
  [[1, 4], [3]],
  [
    [1, 2],
    [3, 4],
  ],
];
const RANGES: [number, number][] = [
  [0, LAST],
  [1, 2048],
  [2048, 2048],
  [2049, 34_816],
  [34_816, LAST + 10_000],
  [40_000, 50_000],
];

/** Finds blocks by looking at each. */
function expected(groups: readonly (readonly number[])[], { from, to, direction, limit }: BlockRange): number[] {
  const found = [...BLOCKS].filter(
    ([block, terms]) =>
      block >= from &&
      block <= to &&
      (terms === null || groups.every((group) => group.some((term) => terms.includes(term)))),
  );
  const blocks = found.map(([block]) => block);
  return (direction === 'asc' ? blocks : blocks.toReversed()).slice(0, limit);
}

describe.each(DATABASES)('%s', (_, start) => {
  let place: DatabasePlace;
  let database: Database;
  beforeAll(async () => {
    place = await start();
    ({ database } = await place.createMigrated());
    await database.write(async (transaction) => {
      const tables = transaction.tables();
      for (const [block, terms] of BLOCKS) {
        const words = terms === null ? null : Uint32Array.from(terms);
        await transaction.sql.postings.add('entry_terms', block, words).execute(tables);
      }
    });
  });
  afterAll(() => place.close());

  const find = (groups: readonly (readonly number[])[], range: BlockRange) =>
    database.snapshot(async (reader) => {
      const { rows } = await reader.sql.postings.find('entry_terms', groups, range).execute(reader.tables());
      return rows.map(({ block }) => block);
    });

  test.each(GROUPS.map((groups) => ({ groups })))('finds the nearest blocks with $groups', async ({ groups }) => {
    for (const [from, to] of RANGES)
      for (const direction of ['asc', 'desc'] as const)
        for (const limit of [1, 2, 3, 100]) {
          const range = { from, to, direction, limit };
          expect(await find(groups, range), JSON.stringify(range)).toEqual(expected(groups, range));
        }
  });
});
