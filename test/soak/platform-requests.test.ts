import { expect, test } from 'vitest';
import { sendDrawn } from '../platform/http/drawn-requests.ts';
import { CANNOT_SUCCEED, neverSucceeded, startDrawn } from '../platform/http/drawn-service.ts';
import { SERVICES } from '../platform/service.ts';

test.each(SERVICES)(
  '10,000 requests drawn from the documents are answered as these say, on %s',
  async (name, start) => {
    const { service, known, close } = await startDrawn(start);
    try {
      const seed = Date.now() % 2 ** 31;
      const statuses = await sendDrawn(service, { requests: 10_000, seed, known, inVain: CANNOT_SUCCEED });
      const counted = [...statuses].map(([operation, seen]) => `${operation} ${[...seen].sort().join(' ')}`);
      process.stdout.write(`${name}, seed ${seed}: ${counted.join('; ')}\n`);
      expect(neverSucceeded(statuses)).toEqual([]);
    } finally {
      await close();
    }
  },
  600_000,
);
