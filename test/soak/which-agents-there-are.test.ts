import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { AGENT } from '../platform/agents/agent-place.ts';
import { SERVICES, type Service } from '../platform/service.ts';

const TIMES = 400;
/** Bound on the difference of medians. */
const TOLERANCE = 0.1;

test.each(SERVICES)(
  'asking how an agent stands takes as long for one that is not there, on %s',
  async (_name, start) => {
    const service = await start({ rateLimits: { requestsPerMinute: 1e6, refusalsPerMinute: 1e6 } });
    try {
      const known = await onboarded(service);
      const taken: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
      for (let time = 0; time < TIMES; time++) {
        const order = time % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
        for (const which of order) {
          const url = `/agents/api/v1/public/verify-agent/${which === 'known' ? known : randomUUID()}`;
          const begun = performance.now();
          const answer = await fetch(new URL(url, service.origin));
          await answer.text();
          taken[which].push(performance.now() - begun);
          expect(answer.status).toBe(which === 'known' ? 200 : 404);
        }
      }
      const [there, nowhere] = [middle(taken.known), middle(taken.unknown)];
      process.stdout.write(`  an agent ${there.toFixed(2)} ms, none ${nowhere.toFixed(2)} ms\n`);
      expect(Math.abs(there / nowhere - 1)).toBeLessThan(TOLERANCE);
    } finally {
      await service.close();
    }
  },
  120_000,
);

async function onboarded(service: Service): Promise<string> {
  const { body } = await service.call('POST', '//agents/api/v1/agents', AGENT);
  await service.call('POST', `//agents/api/v1/agents/${body.agent_id}/onboard`);
  return body.agent_id;
}

function middle(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
