import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { keyHeaderSchema, pageQuerySchema } from '../../http/fields.ts';
import { serveOpenApi } from '../../http/openapi.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import { actorOf } from '../administration.ts';
import type { IssuedKey } from '../api-keys.ts';
import type { ApiKeys } from '../keys.ts';
import { apiKeySchema, issuedKeySchema, keyParamsSchema, newKeySchema, rotationSchema } from '../requests.ts';

// Over 40 lines: it is a list of routes.
export const keyRoutes: FastifyPluginAsyncZod<{ keys: ApiKeys }> = async (server, { keys }) => {
  await serveOpenApi(server, {
    title: 'API keys',
    description: 'Makes, rotates and revokes the API keys of the platform. A key gives no scope that it has not got.',
    schemas: { ApiKey: apiKeySchema, IssuedApiKey: issuedKeySchema },
  });

  server.post(
    '/',
    {
      prefixTrailingSlash: 'slash',
      config: { scope: 'keys:write' },
      schema: {
        operationId: 'makeApiKey',
        tags: ['keys'],
        summary: 'Make an API key, whose text is answered this once',
        headers: keyHeaderSchema,
        body: newKeySchema,
        response: { 201: issuedKeySchema, ...problemResponses(409, 422) },
      },
    },
    async (request, reply) => {
      const asked = { idempotencyKey: request.headers['idempotency-key'] };
      const issued = await keys.make(actorOf(principalOf(request)), request.body, asked);
      return reply.code(201).send(toAnswer(issued));
    },
  );

  server.get(
    '/',
    {
      prefixTrailingSlash: 'slash',
      config: { scope: 'keys:read' },
      schema: {
        operationId: 'listApiKeys',
        tags: ['keys'],
        summary: 'List the API keys by id',
        querystring: pageQuerySchema,
        response: { 200: pageSchema(apiKeySchema), ...problemResponses(422) },
      },
    },
    ({ query }) => keys.list(query),
  );

  server.post(
    '/:key_id/rotate',
    {
      config: { scope: 'keys:write' },
      schema: {
        operationId: 'rotateApiKey',
        tags: ['keys'],
        summary: 'Make an API key in the place of another, which stays good for a while',
        params: keyParamsSchema,
        headers: keyHeaderSchema,
        body: rotationSchema,
        response: { 201: issuedKeySchema, ...problemResponses(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const asked = { idempotencyKey: request.headers['idempotency-key'] };
      const issued = await keys.rotate(actorOf(principalOf(request)), request.params.key_id, request.body, asked);
      return reply.code(201).send(toAnswer(issued));
    },
  );

  server.post(
    '/:key_id/revoke',
    {
      config: { scope: 'keys:write' },
      schema: {
        operationId: 'revokeApiKey',
        tags: ['keys'],
        summary: 'End an API key at once',
        params: keyParamsSchema,
        response: { 200: apiKeySchema, ...problemResponses(404, 409) },
      },
    },
    (request) => keys.revoke(actorOf(principalOf(request)), request.params.key_id),
  );
};

function toAnswer({ key, text }: IssuedKey) {
  return { ...key, api_key: text };
}
