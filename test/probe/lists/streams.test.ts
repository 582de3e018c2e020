import { expect, test } from 'vitest';
import { inferStreams } from '../../../src/probe/lists/streams.ts';
import { Reasoning } from '../../../src/probe/report.ts';
import { NOT_FOUND, serviceOf } from '../sample-service.ts';

test('an address without a list of streams is doubted', async () => {
  const { ask } = serviceOf(() => NOT_FOUND);
  await expect(inferStreams(ask, { streams: [] } as never, new Reasoning())).rejects.toMatchObject({
    code: 'not-found',
    message: 'GET /streams/ answered 404',
    nextStep: expect.stringContaining('its path is probably missing or wrong'),
  });
});
