import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RateLimits } from '../../http/principal.ts';
import { networkOf, RateLimit } from '../../http/rate-limit.ts';
import { OwnQuestions } from '../own-questions.ts';

export interface Strangers {
  rateLimits: RateLimits;
  ownQuestions: Pick<OwnQuestions, 'isOwn'>;
  clock: () => Date;
}

/** Limits how often those without a key ask, by their addresses. */
export function limitStrangers(server: FastifyInstance, { rateLimits, ownQuestions, clock }: Strangers): void {
  const limit = new RateLimit('strangers', rateLimits.refusalsPerMinute, clock);
  const isOwn = ({ headers, params }: FastifyRequest) =>
    ownQuestions.isOwn((params as { agent_id?: string }).agent_id ?? '', headers[OwnQuestions.header]);
  server.addHook('onRequest', async (request, reply) => {
    if (!isOwn(request)) limit.count(networkOf(request), reply);
  });
}
