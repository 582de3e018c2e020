import { describe, expect, test } from 'vitest';
import { Pace } from '../../../src/exporter/client/rate.ts';
import { bucketOf, fixedWindowOf, type Limit, slidingWindowOf } from '../../support/rate-limits.ts';

interface Outcome {
  refused: number;
  sent: number;
  /** Simulated seconds until the service accepted the last request. */
  seconds: number;
  /** Most refusals of any one request. */
  worst: number;
}

/** Simulates requests in parallel lanes to a rate-limited service, on a simulated clock, with 20 ms per round trip. */
function simulate(limit: Limit, requestsPerSecond: number | null, requests = 200, lanes = 4): Outcome {
  const pace = new Pace(requestsPerSecond);
  const outcome: Outcome = { refused: 0, sent: 0, seconds: 0, worst: 0 };
  const due: { at: number; run: () => void }[] = [];
  let now = 0;
  let left = requests;
  const later = (wait: number, run: () => void) => {
    due.push({ at: now + wait, run });
    due.sort((a, b) => a.at - b.at);
  };
  const send = (refusals: number) => {
    const wait = pace.take(now);
    if (wait > 0) {
      later(Math.ceil(wait), () => send(refusals));
      return;
    }
    const grantedAt = now;
    outcome.sent++;
    later(10, () => {
      const retryAfter = limit(now);
      later(10, () => (retryAfter === null ? accepted() : refused(grantedAt, retryAfter, refusals + 1)));
    });
  };
  const refused = (grantedAt: number, retryAfter: number, refusals: number) => {
    outcome.refused++;
    outcome.worst = Math.max(outcome.worst, refusals);
    pace.refused(now, { grantedAt, retryAfterMs: retryAfter * 1000, evidence: 1 });
    later(retryAfter * 1000, () => send(refusals));
  };
  const accepted = () => {
    outcome.seconds = now / 1000;
    if (left-- > 0) send(0);
  };
  for (let lane = 0; lane < lanes; lane++) {
    left--;
    send(0);
  }
  for (let next = due.shift(); next !== undefined; next = due.shift()) {
    now = next.at;
    next.run();
  }
  return outcome;
}

const LIMITS: [string, () => Limit, number][] = [
  ['ten in any second', () => slidingWindowOf(10, 1000), 10],
  ['ten in each second', () => fixedWindowOf(10, 1000), 10],
  ['a bucket of ten, ten more each second', () => bucketOf(10, 10), 10],
  ['a bucket of fifty, ten more each second', () => bucketOf(10, 50), 10],
  ['two in any second', () => slidingWindowOf(2, 1000), 2],
  ['fifty in any second', () => slidingWindowOf(50, 1000), 50],
];

describe('a rate that is configured', () => {
  test.each(LIMITS)('is never refused: %s', (_words, limit, rate) => {
    const { refused, seconds } = simulate(limit(), rate);
    expect(refused).toBe(0);
    expect(seconds).toBeLessThan((1.06 * 200) / rate);
  });

  test('is kept without a burst, after a pause too', () => {
    const pace = new Pace(10);
    expect(pace.take(0)).toBe(0);
    expect(pace.take(0)).toBeCloseTo(103.1, 1);
    expect([pace.take(5000), pace.take(5103) > 0, pace.take(5104)]).toEqual([0, true, 0]);
  });

  test('is not exceeded because nothing was refused for long', () => {
    const pace = new Pace(10);
    pace.take(0);
    pace.refused(10, { grantedAt: 0, retryAfterMs: null, evidence: 1 });
    expect(pace.rate(1e9)).toBeCloseTo(9.7);
  });
});

describe('a rate that is learned', () => {
  test.each(LIMITS)('costs few refusals and little time: %s', (_words, limit, rate) => {
    const { refused, sent, seconds, worst } = simulate(limit(), null);
    expect(refused).toBeGreaterThan(0);
    expect(refused / sent).toBeLessThanOrEqual(0.05);
    expect(seconds).toBeLessThan((1.3 * 200) / rate);
    expect(worst).toBeLessThanOrEqual(2);
  });

  test('of a hundred a minute is learned from how long the service wants to be left alone', () => {
    const { refused, sent, worst } = simulate(fixedWindowOf(100, 60_000), null, 1000);
    expect(refused / sent).toBeLessThanOrEqual(0.05);
    expect(worst).toBe(1);
  });

  test('that stays costs one request in a hundred, however long it goes on', () => {
    const { refused, sent } = simulate(slidingWindowOf(10, 1000), null, 5000);
    expect(refused / sent).toBeLessThanOrEqual(0.01);
  });

  test('that is not the limit any more is left behind', () => {
    const pace = new Pace(null);
    for (let at = 0; at < 10; at++) pace.take(at);
    pace.take(10);
    pace.refused(20, { grantedAt: 10, retryAfterMs: 1000, evidence: 1 });
    const rates = [1020, 21_020, 221_020].map((now) => pace.rate(now));
    expect(rates).toEqual([9, 10, 20]);
  });
});

describe('a pause', () => {
  test('is everyone’s, and the longest counts', () => {
    const pace = new Pace(null);
    expect([pace.take(0), pace.take(1)]).toEqual([0, 0]);
    pace.refused(10, { grantedAt: 0, retryAfterMs: 5000, evidence: 1 });
    pace.refused(11, { grantedAt: 1, retryAfterMs: 1000, evidence: 1 });
    expect([pace.take(12), pace.take(5010)]).toEqual([4998, 0]);
  });

  test('says nothing about a rate where too little came before', () => {
    const pace = new Pace(null);
    for (let at = 0; at < 10; at++) pace.take(at);
    pace.refused(20, { grantedAt: 9, retryAfterMs: 1000, evidence: 10 });
    expect([pace.take(20), pace.rate(1021)]).toEqual([1000, Number.POSITIVE_INFINITY]);
  });
});

test('nothing is held back as long as nothing was refused', () => {
  const pace = new Pace(null);
  for (let count = 0; count < 100_000; count++) expect(pace.take(count / 1000)).toBe(0);
});
