import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { actorOf } from '../../accounts/administration.ts';
import { keyHeaderSchema } from '../../http/fields.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import {
  confirmationSchema,
  madeTrapSchema,
  newTrapSchema,
  realismSchema,
  testResultsSchema,
  trapParamsSchema,
  trapQuerySchema,
  trapSchema,
} from '../requests.ts';
import type { TrapService } from '../service.ts';

// Over 40 lines: it is a list of routes.
export const credentialRoutes: FastifyPluginAsyncZod<{ service: TrapService }> = async (server, { service }) => {
  const { traps, proving, realism } = service;

  server.post(
    '/credentials/generate',
    {
      config: { scope: 'traps:write' },
      schema: {
        operationId: 'generateTrap',
        tags: ['credentials'],
        summary: 'Make a trap credential, which is answered this once',
        headers: keyHeaderSchema,
        body: newTrapSchema,
        response: { 201: madeTrapSchema, ...problemResponses(409, 422) },
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'];
      const made = await traps.generate(actorOf(principalOf(request)), request.body, key);
      return reply.code(201).send(made);
    },
  );

  server.get(
    '/credentials/',
    {
      config: { scope: 'traps:read' },
      schema: {
        operationId: 'listTraps',
        tags: ['credentials'],
        summary: 'List trap credentials, newest first, without their secrets',
        querystring: trapQuerySchema,
        response: { 200: pageSchema(trapSchema), ...problemResponses(422) },
      },
    },
    ({ query }) => traps.list(query),
  );

  server.get(
    '/credentials/:credential_id',
    {
      config: { scope: 'traps:read' },
      schema: {
        operationId: 'getTrap',
        tags: ['credentials'],
        summary: 'Get a trap credential without its secret',
        params: trapParamsSchema,
        response: { 200: trapSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => traps.find(params.credential_id),
  );

  server.get(
    '/credentials/:credential_id/realism',
    {
      config: { scope: 'traps:read' },
      schema: {
        operationId: 'checkRealism',
        tags: ['credentials'],
        summary: 'Check what could tell somebody that a credential is a trap, and what to do about it',
        params: trapParamsSchema,
        response: { 200: realismSchema, ...problemResponses(404) },
      },
    },
    async ({ params }) => ({ data: await realism.check(params.credential_id) }),
  );

  server.post(
    '/credentials/:credential_id/confirm',
    {
      config: { scope: 'traps:write' },
      schema: {
        operationId: 'confirmTrap',
        tags: ['credentials'],
        summary: 'Note that a trap credential was planted',
        params: trapParamsSchema,
        body: confirmationSchema,
        response: { 200: trapSchema, ...problemResponses(404, 409, 422) },
      },
    },
    (request) => traps.confirm(actorOf(principalOf(request)), request.params.credential_id, request.body.planted_at),
  );

  server.post(
    '/credentials/:credential_id/test',
    {
      config: { scope: 'traps:write' },
      schema: {
        operationId: 'testTrap',
        tags: ['credentials'],
        summary: 'Prove that the channels of a trap credential see its use, by a marked use of each',
        params: trapParamsSchema,
        response: { 200: testResultsSchema, ...problemResponses(404) },
      },
    },
    async (request) => ({ data: await proving.test(actorOf(principalOf(request)), request.params.credential_id) }),
  );

  server.post(
    '/credentials/:credential_id/rotate',
    {
      config: { scope: 'traps:write' },
      schema: {
        operationId: 'rotateTrap',
        tags: ['credentials'],
        summary: 'Make a trap credential in the place of another, which stays a trap',
        params: trapParamsSchema,
        headers: keyHeaderSchema,
        response: { 201: madeTrapSchema, ...problemResponses(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'];
      const made = await traps.rotate(actorOf(principalOf(request)), request.params.credential_id, key);
      return reply.code(201).send(made);
    },
  );

  for (const [act, operationId, summary] of [
    ['revoke', 'revokeTrap', 'End a trap credential; its uses are detections still'],
    ['reset', 'resetTrap', 'Have a triggered trap credential stand as before; its detections stay'],
  ] as const)
    server.post(
      `/credentials/:credential_id/${act}`,
      {
        config: { scope: 'traps:write' },
        schema: {
          operationId,
          summary,
          tags: ['credentials'],
          params: trapParamsSchema,
          response: { 200: trapSchema, ...problemResponses(404, 409) },
        },
      },
      (request) => traps[act](actorOf(principalOf(request)), request.params.credential_id),
    );
};
