import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { actorOf } from '../../accounts/administration.ts';
import { isKnown, sendKnown } from '../../http/etag.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import { eventParamsSchema, eventQuerySchema, eventSchema } from '../requests/events.ts';
import type { EndpointService } from '../service.ts';

// Over 40 lines: it is a list of routes.
export const endpointEventRoutes: FastifyPluginAsyncZod<{ service: EndpointService }> = async (server, { service }) => {
  const { events } = service;

  server.get(
    '/events/',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'listEndpointEvents',
        tags: ['events'],
        summary: 'List what is or was wrong on endpoints, newest first',
        querystring: eventQuerySchema,
        response: {
          200: pageSchema(eventSchema),
          304: z.undefined().describe('Nothing is new since the answer that If-None-Match names.'),
        },
      },
    },
    async ({ query }, reply) => {
      const version = await events.currentVersion();
      return isKnown(reply, String(version)) ? (sendKnown(reply) as never) : events.list(query);
    },
  );

  server.get(
    '/events/:event_id',
    {
      config: { scope: 'endpoints:read' },
      schema: {
        operationId: 'getEndpointEvent',
        tags: ['events'],
        summary: 'Get an event: what was expected, what was seen, and what explains it',
        params: eventParamsSchema,
        response: { 200: eventSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => events.find(params.event_id),
  );

  for (const [act, operationId, summary] of [
    ['acknowledge', 'acknowledgeEndpointEvent', 'Note that somebody has seen an event; it stays until it is resolved'],
    ['reopen', 'reopenEndpointEvent', 'Open an event again that was acknowledged or quieted'],
  ] as const)
    server.post(
      `/events/:event_id/${act}`,
      {
        config: { scope: 'endpoints:write' },
        schema: {
          operationId,
          summary,
          tags: ['events'],
          params: eventParamsSchema,
          response: { 200: eventSchema, ...problemResponses(404, 409) },
        },
      },
      (request) => events[act](actorOf(principalOf(request)), request.params.event_id),
    );
};
