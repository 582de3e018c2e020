import { describe, expect, test, vi } from 'vitest';
import { EvidenceError } from '../../../src/core/errors.ts';
import { Attempts } from '../../../src/exporter/client/retry.ts';
import { chooseShortestWaits } from '../../support/shortest-waits.ts';

chooseShortestWaits();

const signal = new AbortController().signal;
const LIMITS = { attempts: 4, callMs: 60_000, bytesPerSecond: 0, waits: { longest: 300_000, inAll: 900_000 } };
const error = new EvidenceError('unreachable', 'broken');

/** Counts attempts that break after the given number of bytes. */
async function attemptsOf(allowed: number, reached: (attempt: number) => number): Promise<number> {
  const attempts = new Attempts({ ...LIMITS, attempts: allowed });
  try {
    for (;;) {
      attempts.begin();
      await attempts.next({ error, retry: true, waitMs: 0 }, signal, reached(attempts.count));
    }
  } catch (thrown) {
    expect(thrown).toBe(error);
    return attempts.count;
  }
}

describe('how often it is tried', () => {
  const MIB = 2 ** 20;
  const cases: [string, (attempt: number) => number, number][] = [
    ['without progress', () => 0, 4],
    ['progress once', () => 5, 5],
    ['progress, loss, and the same again', (attempt) => (attempt % 2) * 5, 5],
    ['progress at every third attempt', (attempt) => Math.floor(attempt / 3), 100],
    ['a byte each time, for ever', (attempt) => attempt, 100],
    ['a MiB each time, two hundred times', (attempt) => Math.min(attempt, 200) * MIB, 204],
  ];
  test.each(cases)('%s', async (_words, reached, count) => {
    expect(await attemptsOf(4, reached)).toBe(count);
  });
});

test.each<[tookMs: number, tried: number]>([
  [899, 2],
  [899.4, 1],
  [900, 1],
])('a deadline of 900 ms that ends an attempt after %d ms', async (tookMs, tried) => {
  let now = 0;
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const attempts = new Attempts({ ...LIMITS, callMs: 900 });
  const call = async () => {
    for (;;) {
      attempts.begin();
      attempts.sent();
      now += tookMs;
      await attempts.next({ error, retry: true, waitMs: 0 }, signal);
    }
  };
  await expect(call()).rejects.toBe(error);
  expect(attempts.count).toBe(tried);
});

test('what is final is not tried again', async () => {
  const attempts = new Attempts(LIMITS);
  attempts.begin();
  await expect(attempts.next({ error, retry: false }, signal, 5)).rejects.toBe(error);
});
