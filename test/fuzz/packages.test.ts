import { expect, test } from 'vitest';
import { chainOf, packageOf } from '../support/chain.ts';
import { ALL_DIALECTS } from '../support/dialects.ts';
import { someRows } from '../support/some-rows.ts';
import { comparePaths, damagedPackage, splitsOf } from './dialects.ts';
import { packageCase, randomFrom } from './packages.ts';
import { coverageOf, differenceOf, readRanges } from './two-paths.ts';

const [PACKAGES = 0] = someRows([250, 800], () => 'packages').slice(-1);
const [OF_EACH_DIALECT = 0] = someRows([4, 12], () => 'packages').slice(-1);

test(`${PACKAGES} packages, damaged in all ways, are read alike by all paths`, () => {
  const random = randomFrom(20_261_001);
  for (let count = 0; count < PACKAGES; count++) {
    const one = packageCase(random);
    const difference = differenceOf(one);
    if (difference !== null) expect(difference.fast, one.bytes.toString()).toBe(difference.slow);
  }
});

test('of an intact package the fast path takes all but what stands across a border', () => {
  const bytes = Buffer.from(JSON.stringify(packageOf(chainOf(5000))));
  expect(bytes.length).toBeGreaterThan(2 ** 21);
  const { taken, all } = coverageOf({ bytes, cuts: [], withKeys: true, watch: [] });
  expect(all).toBe(5000);
  expect(taken).toBeGreaterThanOrEqual(4990);
});

test('of an intact package in five ranges all is taken as segments but the first and what stands across a border', () => {
  const bytes = Buffer.from(JSON.stringify(packageOf(chainOf(5000))));
  const fifth = Math.floor(bytes.length / 5);
  const one = { bytes, cuts: [1, 2, 3, 4].map((range) => range * fifth), withKeys: true, watch: [1, 999, 3000, 5000] };
  expect(differenceOf(one)).toBeNull();
  expect(readRanges(one).taken).toBeGreaterThanOrEqual(3990);
});

test.each([1, 7, 1000])('where every %i. entry is not regular, the others still are', (every) => {
  const entries = chainOf(3000).map((entry, index) => (index % every === 0 ? { ...entry, seal: 'broken' } : entry));
  const bytes = Buffer.from(JSON.stringify(packageOf(entries)));
  const one = { bytes, cuts: [], withKeys: true, watch: [] };
  expect(differenceOf(one)).toBeNull();
  const { taken } = coverageOf(one);
  expect(taken).toBeGreaterThanOrEqual(Math.floor(3000 * (1 - 1 / every)) - 5);
  expect(taken).toBeLessThanOrEqual(3000 - Math.ceil(3000 / every));
});

test('packages of all dialects, damaged in all ways, are read alike by all paths', () => {
  const random = randomFrom(20_261_121);
  let taken = 0;
  for (const dialect of ALL_DIALECTS)
    for (let count = 0; count < OF_EACH_DIALECT; count++) {
      const bytes = damagedPackage(dialect, random);
      const { fast, slow, inRanges, inSegments } = comparePaths(dialect, bytes, splitsOf(bytes, random));
      if (fast !== slow) expect(fast, bytes.toString()).toBe(slow);
      if (inRanges !== slow) expect(inRanges, bytes.toString()).toBe(slow);
      taken += inSegments;
    }
  expect(taken).toBeGreaterThan(ALL_DIALECTS.length * OF_EACH_DIALECT);
});
