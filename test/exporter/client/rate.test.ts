import { describe, expect, test } from 'vitest';
import { RateLimiter } from '../../../src/exporter/client/rate.ts';
import { startFaultServer } from '../../support/fault-server.ts';
import { connectTo, failure } from './connect.ts';

const ALONE = { origin: 'https://audit.example.com', sharedRate: null };

test('a transport asks no faster than it is told', async () => {
  const [requests, rate] = [11, 20];
  const server = await startFaultServer({ body: '{}' });
  const transport = connectTo(server.url, { requestsPerSecond: rate });
  const began = performance.now();
  const call = { method: 'GET', url: server.url, repeatable: true } as const;
  await Promise.all(Array.from({ length: requests }, () => transport.json(call)));
  expect(performance.now() - began).toBeGreaterThan(((requests - 1) / rate) * 990);
  await Promise.all([server.close(), transport.close()]);
});

describe('what Retry-After says is waited for by everyone', () => {
  test.each([
    [429, true],
    [503, true],
    [500, false],
    [200, false],
  ])('after %i: %s', async (status, waits) => {
    const limiter = new RateLimiter({ ...ALONE, requestsPerSecond: null, signal: new AbortController().signal });
    const grantedAt = await limiter.admit();
    const answeredAt = performance.now();
    limiter.answered(status, grantedAt, 500);
    for (const at of await Promise.all([limiter.admit(), limiter.admit()])) expect(at - answeredAt >= 500).toBe(waits);
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
    const limiter = new RateLimiter({ ...ALONE, requestsPerSecond: 0.001, signal: controller.signal });
    await limiter.admit();
    const waiting = [failure(limiter.admit()), failure(limiter.admit())];
    const reason = new Error('stop');
    controller.abort(reason);
    expect(await Promise.all(waiting)).toEqual([reason, reason]);
  });

  test('is first come, first served', async () => {
    const limiter = new RateLimiter({ ...ALONE, requestsPerSecond: 200, signal: new AbortController().signal });
    const order: number[] = [];
    await Promise.all([1, 2, 3, 4, 5].map((number) => limiter.admit().then(() => order.push(number))));
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });
});
