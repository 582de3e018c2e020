import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { problemResponses } from '../../http/responses.ts';
import type { AgentService } from '../service.ts';
import { agentParamsSchema } from '../wire/parts.ts';
import { limitStrangers, type Strangers } from './strangers.ts';

const document = z.looseObject({}).meta({ type: 'object', additionalProperties: true });

/** DID core section 6.2. */
const didDocument = {
  description: 'A DID document.',
  content: { 'application/did+json': { schema: document } },
};

/** Routes for the documents that an agent's DID points to. */
// Over 40 lines: it is a list of routes.
export const didRoutes: FastifyPluginAsyncZod<{ service: AgentService } & Strangers> = async (
  server,
  { service, ...strangers },
) => {
  limitStrangers(server, strangers);
  const agents = service.public;

  server.get(
    '/did/:agent_id/did.json',
    {
      config: { public: true },
      schema: {
        operationId: 'getDidDocument',
        tags: ['public'],
        summary: 'The DID document of an agent; that of a revoked one has no keys',
        params: agentParamsSchema,
        response: { 200: didDocument, ...problemResponses(404) },
      },
    },
    async ({ params }, reply) => {
      const found = await agents.didDocument(params.agent_id);
      reply.type('application/did+json');
      return { ...found };
    },
  );

  server.get(
    '/did/:agent_id/agent-card.json',
    {
      config: { public: true },
      schema: {
        operationId: 'getAgentCard',
        tags: ['public'],
        summary: 'The signed A2A card of an agent',
        params: agentParamsSchema,
        response: { 200: document, ...problemResponses(404) },
      },
    },
    async ({ params }) => ({ ...(await agents.card(params.agent_id)) }),
  );
};
