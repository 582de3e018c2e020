import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { pageSchema } from '../../../core/wire.ts';
import type { Database } from '../../database/database.ts';
import { fromCursor, pageOf, toCursor } from '../../http/cursor.ts';
import { keyHeaderSchema, pageQuerySchema } from '../../http/fields.ts';
import { serveOpenApi } from '../../http/openapi.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { type Administration, actorOf } from '../administration.ts';
import { type IssuedKey, issueKey, keysAfter, revokeKey, rotateKey } from '../api-keys.ts';
import { issueOnce } from '../issue-once.ts';
import { apiKeySchema, issuedKeySchema, keyParamsSchema, newKeySchema, rotationSchema } from '../requests.ts';

export interface AccountParts {
  database: Database;
  clock: () => Date;
  administration: Administration;
}

// Over 40 lines: it is a list of routes.
export const keyRoutes: FastifyPluginAsyncZod<AccountParts> = async (server, { database, clock, administration }) => {
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
      const { body, headers } = request;
      const issuing = { actor: actorOf(principalOf(request)), now: clock(), administration };
      const wishes = { name: body.name, scopes: body.scopes, expiresAt: body.expires_at };
      const asked = { scope: 'keys', body, idempotencyKey: headers['idempotency-key'], now: issuing.now };
      const issued = await issueOnce(database, asked, (transaction) => issueKey(transaction, wishes, issuing));
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
    async ({ query: { limit, cursor } }) => {
      const after = cursor === undefined ? '' : fromCursor('keys', ['string'], cursor)[0];
      const keys = await keysAfter(database, after, limit + 1);
      const { shown, next_cursor } = pageOf(keys, limit, (last) => toCursor('keys', [last.key_id]));
      return { data: shown, next_cursor };
    },
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
      const { body, headers, params } = request;
      const issuing = { actor: actorOf(principalOf(request)), now: clock(), administration };
      const rotation = { overlapSeconds: body.overlap_seconds, expiresAt: body.expires_at };
      const scope = `keys/${params.key_id}/rotate`;
      const asked = { scope, body, idempotencyKey: headers['idempotency-key'], now: issuing.now };
      const issued = await issueOnce(database, asked, (transaction) =>
        rotateKey(transaction, params.key_id, rotation, issuing),
      );
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
    (request) => {
      const issuing = { actor: actorOf(principalOf(request)), now: clock(), administration };
      return database.write((transaction) => revokeKey(transaction, request.params.key_id, issuing));
    },
  );
};

function toAnswer({ key, text }: IssuedKey) {
  return { ...key, api_key: text };
}
