import { expect, test } from 'vitest';
import { sendDrawn } from '../platform/drawn-requests.ts';
import { fill, SERVICES } from '../platform/service.ts';

test.each(SERVICES)(
  '10,000 requests drawn from the documents are answered as these say, on %s',
  async (_name, start) => {
    const service = await start({ rateLimits: { requestsPerMinute: 1e6, refusalsPerMinute: 1e6 } });
    try {
      await fill(service, 's', 3);
      const { package_id } = (await service.call('POST', '/evidence/generate', { stream_id: 's' })).body;
      const seed = Date.now() % 2 ** 31;
      const statuses = await sendDrawn(service, {
        requests: 10_000,
        seed,
        known: { stream_id: ['s'], package_id: [package_id] },
      });
      expect([...statuses.values()].every((seen) => seen.size > 1)).toBe(true);
    } finally {
      await service.close();
    }
  },
  600_000,
);
