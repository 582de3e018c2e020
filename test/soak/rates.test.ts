import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { connectTo } from '../exporter/client/connect.ts';
import { bucketOf, fixedWindowOf, type Limit, slidingWindowOf } from '../support/rate-limits.ts';

const REQUESTS = 200;
const RATE = 10;

/** Sends requests to a server with this limit, four at a time. */
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
