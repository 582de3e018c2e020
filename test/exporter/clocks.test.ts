import { expect, test } from 'vitest';
import { describeSkew, readClock } from '../../src/exporter/clocks.ts';

const THEIRS = Date.parse('2026-11-22T12:00:00Z');
const DATE = new Date(THEIRS).toUTCString();

test.each([
  [0, null],
  [60_000, null],
  [-60_000, null],
  [61_000, 'about 61 seconds ahead of'],
  [-200_000, 'about 3 minutes behind'],
  [-7_200_000, 'about 2 hours behind'],
  [20 * 86_400_000, 'about 20 days ahead of'],
])('a clock that differs by %d ms', (skew, said) => {
  const reading = readClock(DATE, new Date(THEIRS + skew));
  expect(reading === null ? 'nothing' : describeSkew(reading)).toBe(said);
});

test.each([null, '', 'today'])('a Date header of %j says nothing', (date) => {
  expect(readClock(date, new Date(THEIRS))).toBeNull();
});
