import { expect, test } from 'vitest';
import { SERVICES } from '../service.ts';
import { Crowd } from './crowd.ts';

test.each(SERVICES)('20 agents that report 20 actions each, all at once, on %s', async (_name, start) => {
  const service = await start();
  try {
    const crowd = await Crowd.of(service, { agents: 20, each: 20 });
    expect(await crowd.act()).toBeGreaterThan(0);
    await crowd.expectRight();
  } finally {
    await service.close();
  }
});
