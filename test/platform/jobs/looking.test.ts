import { expect, test } from 'vitest';
import { FailuresInARow } from '../../../src/platform/jobs/looking.ts';

test('failures in a row are told at once, then less and less often, at least once a minute, and so is their end', () => {
  let now = 0;
  const told: [seconds: number, what: string][] = [];
  const listener = {
    failed: (error: unknown) => told.push([now / 1000, String(error)]),
    recovered: () => told.push([now / 1000, 'recovered']),
  };
  const failures = new FailuresInARow(listener, () => now);
  failures.succeeded();
  for (; now < 300_000; now += 1000) failures.failed('gone');
  failures.succeeded();
  failures.succeeded();
  now += 1000;
  failures.failed('gone again');
  expect(told).toEqual([
    ...[0, 1, 3, 7, 15, 31, 63, 123, 183, 243].map((seconds) => [seconds, 'gone']),
    [300, 'recovered'],
    [301, 'gone again'],
  ]);
});
