import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ZONE } from '../../../src/platform/audit/entry-index.ts';
import { rowsOf } from '../rows.ts';
import { type Service, startService } from '../service.ts';

const SIZES = { small: 5_000, large: 50_000 };

/** Bound on the time for ten times as many entries. */
const MOST = 11;

/** Constant cost of a request, apart from reading. */
const FLOOR_MS = 15;

const START = new Date(Date.now() - 90 * 60_000);
const MIDDLE = new Date(START.getTime() + 5000).toISOString();

const services: Partial<Record<keyof typeof SIZES, Service>> = {};
beforeAll(async () => {
  for (const size of ['small', 'large'] as const) {
    const service = await startService();
    services[size] = service;
    await service.sql((await rowsOf(service.dataDir, 's', SIZES[size], START)).join(';'));
    // Reading entries for the index would count as cost.
    const zones = async () => Number(await service.sql('SELECT max(zone) FROM entry_zones'));
    await vi.waitUntil(async () => (await zones()) === Math.floor(SIZES[size] / ZONE) - 1, { timeout: 120_000 });
  }
});
afterAll(async () => {
  for (const service of Object.values(services)) await service?.close();
});

/**
 * Returns the least of four costs: CPU time of this process and its threads, because wall time includes other
 * processes.
 */
async function costOf(size: keyof typeof SIZES, [method, path, body]: (typeof ASKED)[number][1]): Promise<number> {
  const costs: number[] = [];
  for (let round = 0; round < 4; round++) {
    const before = process.cpuUsage();
    const answer = await services[size]?.call(method, path, body);
    expect(answer?.status).toBeLessThan(300);
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / 1000);
  }
  return Math.min(...costs);
}

const ASKED: [string, [string, string, unknown?]][] = [
  ['a list of a stream with a filter that nothing passes', ['GET', '/entries/?stream_id=s&actor=nobody']],
  ['a list of all streams with such a filter', ['GET', '/entries/?actor=nobody']],
  ['a list of a period with such a filter', ['GET', `/entries/?stream_id=s&action=none&from=${MIDDLE}`]],
  ['a period', ['GET', `/entries/?stream_id=s&limit=500&from=${MIDDLE}`]],
  ['generate', ['POST', '/evidence/generate', { stream_id: 's' }]],
  ['generate of a period', ['POST', '/evidence/generate', { stream_id: 's', from: MIDDLE }]],
  ['Verify', ['POST', '/streams/s/verify']],
];

describe('ten times the entries cost at most eleven times as much', () => {
  test.each(ASKED)('%s', async (_name, asked) => {
    const small = await costOf('small', asked);
    const large = await costOf('large', asked);
    expect(large).toBeLessThan(MOST * Math.max(small, FLOOR_MS));
  });

  test('the statistics cost the same, and count the same as one by one', async () => {
    const asked: (typeof ASKED)[number][1] = ['GET', '/stats/'];
    const [small, large] = [await costOf('small', asked), await costOf('large', asked)];
    expect(large).toBeLessThan(2 * Math.max(small, FLOOR_MS));
    for (const [size, service] of Object.entries(services))
      expect((await service.call('GET', '/stats/')).body.entries_24h).toBe(SIZES[size as keyof typeof SIZES]);
  });
});
