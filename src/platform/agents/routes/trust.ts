import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import { agentParamsSchema } from '../requests/parts.ts';
import {
  historyQuerySchema,
  simulatedSchema,
  simulationSchema,
  trustLineSchema,
  trustScoreSchema,
} from '../requests/trust.ts';
import type { AgentService } from '../service.ts';

/** Routes for the trust in agents, and its reasons. */
// Over 40 lines: it is a list of routes.
export const trustRoutes: FastifyPluginAsyncZod<{ service: AgentService }> = async (server, { service }) => {
  const { trust } = service;

  server.get(
    '/agents/:agent_id/trust-score',
    {
      config: { scope: 'agents:read' },
      schema: {
        operationId: 'getTrustScore',
        tags: ['trust'],
        summary: 'Get the trust score of an agent: its tier, what it is the sum of, what holds it, and what to do next',
        params: agentParamsSchema,
        response: { 200: trustScoreSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => trust.score(params.agent_id),
  );

  server.get(
    '/agents/:agent_id/trust-score/history',
    {
      config: { scope: 'agents:read' },
      schema: {
        operationId: 'listTrustLines',
        tags: ['trust'],
        summary: 'List the ledger of an agent, newest first: every score that was ever shown follows from it',
        params: agentParamsSchema,
        querystring: historyQuerySchema,
        response: { 200: pageSchema(trustLineSchema), ...problemResponses(404) },
      },
    },
    ({ params, query }) => trust.history(params.agent_id, query),
  );

  server.post(
    '/agents/:agent_id/trust-score/simulate',
    {
      config: { scope: 'agents:read' },
      schema: {
        operationId: 'simulateTrust',
        tags: ['trust'],
        summary: 'Get what rules or an action would do to the trust score of an agent; nothing is recorded',
        params: agentParamsSchema,
        body: simulationSchema,
        response: { 200: simulatedSchema, ...problemResponses(404) },
      },
    },
    ({ params, body }) => trust.simulate(params.agent_id, body),
  );
};
