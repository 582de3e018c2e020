import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { actorOf } from '../../accounts/administration.ts';
import { keyHeaderSchema } from '../../http/fields.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import {
  subscriberListSchema,
  subscriberParamsSchema,
  subscriberSchema,
  wireSubscriberSchema,
} from '../requests/subscribers.ts';
import type { AgentService } from '../service.ts';

// Over 40 lines: it is a list of routes.
export const subscriberRoutes: FastifyPluginAsyncZod<{ service: AgentService }> = async (server, { service }) => {
  const { subscribers } = service;

  server.get(
    '/subscribers',
    {
      config: { scope: 'agents:read' },
      schema: {
        operationId: 'listSubscribers',
        tags: ['subscribers'],
        summary: 'List the subscribers that are notified when agents are stopped and reinstated',
        response: { 200: subscriberListSchema },
      },
    },
    async () => ({ data: await subscribers.list() }),
  );

  server.post(
    '/subscribers',
    {
      config: { scope: 'agents:write' },
      schema: {
        operationId: 'addSubscriber',
        tags: ['subscribers'],
        summary:
          'Have signed Security Event Tokens (RFC 8417) pushed to an address (RFC 8935) when agents are stopped and reinstated',
        headers: keyHeaderSchema,
        body: subscriberSchema,
        response: { 201: wireSubscriberSchema, ...problemResponses(409) },
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'];
      return reply.code(201).send(await subscribers.add(actorOf(principalOf(request)), request.body, key));
    },
  );

  server.delete(
    '/subscribers/:subscriber_id',
    {
      config: { scope: 'agents:write' },
      schema: {
        operationId: 'removeSubscriber',
        tags: ['subscribers'],
        summary: 'Push nothing more to an address; what is on its way is given up',
        params: subscriberParamsSchema,
        response: { 200: wireSubscriberSchema, ...problemResponses(404) },
      },
    },
    (request) => subscribers.remove(actorOf(principalOf(request)), request.params.subscriber_id),
  );
};
