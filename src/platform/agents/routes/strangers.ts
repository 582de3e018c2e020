import type { FastifyInstance } from 'fastify';
import type { RateLimits } from '../../http/principal.ts';
import { networkOf, RateLimit } from '../../http/rate-limit.ts';

export interface Strangers {
  rateLimits: RateLimits;
  clock: () => Date;
}

/** Limits how often those without a key ask, by their addresses. */
export function limitStrangers(server: FastifyInstance, { rateLimits, clock }: Strangers): void {
  const limit = new RateLimit('strangers', rateLimits.refusalsPerMinute, clock);
  server.addHook('onRequest', async (request, reply) => limit.count(networkOf(request), reply));
}
