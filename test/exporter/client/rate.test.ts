import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { RateLimiter } from '../../../src/exporter/client/rate.ts';
import { startFaultServer } from '../../support/fault-server.ts';
import { bucketOf, fixedWindowOf, type Limit, slidingWindowOf } from '../../support/rate-limits.ts';
import { connectTo, failure } from './connect.ts';

const REQUESTS = 200;
const RATE = 10;

/** Asks a real service with this limit, four at a time. */
async function ask(limit: Limit, requestsPerSecond: number | null) {
  let refused = 0;
  const server = createServer((_incoming, outgoing) => {
    const retryAfter = limit(performance.now());
    if (retryAfter === null) outgoing.end('{}');
    else {
      refused++;
      outgoing.writeHead(429, { 'retry-after': String(retryAfter) }).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const transport = connectTo(url, { requestsPerSecond });
  const began = performance.now();
  let left = REQUESTS;
  const lane = async () => {
    while (left-- > 0) await transport.json({ method: 'GET', url, repeatable: true });
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  const seconds = (performance.now() - began) / 1000;
  await transport.close();
  server.close();
  return { refused, seconds };
}

describe.concurrent('two hundred requests to a service that allows ten a second', { timeout: 60_000 }, () => {
  const LIMITS: [string, () => Limit][] = [
    ['in any second', () => slidingWindowOf(RATE, 1000)],
    ['in each second', () => fixedWindowOf(RATE, 1000)],
    ['from a bucket of ten', () => bucketOf(RATE, RATE)],
  ];

  test.each(LIMITS)('%s', async (_words, limit) => {
    const [configured, learned] = await Promise.all([ask(limit(), RATE), ask(limit(), null)]);
    expect(configured.refused).toBe(0);
    expect(configured.seconds).toBeLessThan((1.1 * REQUESTS) / RATE);
    expect(learned.refused).toBeGreaterThan(0);
    expect(learned.refused / (REQUESTS + learned.refused)).toBeLessThanOrEqual(0.05);
    expect(learned.seconds).toBeLessThan((1.3 * REQUESTS) / RATE);
  });
});

describe('what Retry-After says is waited for by everyone', () => {
  test.each([
    [429, true],
    [503, true],
    [500, false],
    [200, false],
  ])('after %i: %s', async (status, waits) => {
    const limiter = new RateLimiter(null, new AbortController().signal);
    const grantedAt = await limiter.admit();
    const answeredAt = performance.now();
    limiter.answered(status, grantedAt, 200);
    for (const at of await Promise.all([limiter.admit(), limiter.admit()])) expect(at - answeredAt >= 200).toBe(waits);
  });

  test('and by a transport’s other calls', async () => {
    const server = await startFaultServer({ status: 503, headers: { 'retry-after': '1' } }, { body: '{}' });
    const transport = connectTo(server.url, { attempts: 1 });
    const call = { method: 'GET', url: server.url, repeatable: true } as const;
    expect((await failure(transport.json(call))).message).toContain('503');
    await Promise.all([transport.json(call), transport.json(call)]);
    const [refused, ...later] = server.requests.map(({ at }) => at);
    expect(later.map((at) => at - (refused ?? 0) >= 990)).toEqual([true, true]);
    await Promise.all([server.close(), transport.close()]);
  });
});

describe('a wait for the turn', () => {
  test('ends with the reason when the work is to be ended, for all who wait', async () => {
    const controller = new AbortController();
    const limiter = new RateLimiter(0.001, controller.signal);
    await limiter.admit();
    const waiting = [failure(limiter.admit()), failure(limiter.admit())];
    const reason = new Error('stop');
    controller.abort(reason);
    expect(await Promise.all(waiting)).toEqual([reason, reason]);
  });

  test('is first come, first served', async () => {
    const limiter = new RateLimiter(200, new AbortController().signal);
    const order: number[] = [];
    await Promise.all([1, 2, 3, 4, 5].map((number) => limiter.admit().then(() => order.push(number))));
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });
});
