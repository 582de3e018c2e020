import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { actorOf } from '../../accounts/administration.ts';
import { keyHeaderSchema } from '../../http/fields.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { importedKeySchema, provisionedKeySchema } from '../aws/requests.ts';
import { madeTrapSchema } from '../requests.ts';
import type { TrapService } from '../service.ts';

/** Traps that are keys of a real account of AWS. */
// Over 40 lines: it is a list of routes.
export const realKeyRoutes: FastifyPluginAsyncZod<{ service: TrapService }> = async (server, { service }) => {
  const { realKeys } = service;
  const answers = { 201: madeTrapSchema, ...problemResponses(409, 422) };

  server.post(
    '/credentials/import',
    {
      config: { scope: 'traps:write' },
      schema: {
        operationId: 'importTrap',
        tags: ['credentials'],
        summary: 'Take an access key that AWS knows as a trap',
        headers: keyHeaderSchema,
        body: importedKeySchema,
        response: answers,
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'];
      return reply.code(201).send(await realKeys.import(actorOf(principalOf(request)), request.body, key));
    },
  );

  server.post(
    '/credentials/provision',
    {
      config: { scope: 'traps:write' },
      schema: {
        operationId: 'provisionTrap',
        tags: ['credentials'],
        summary: 'Make a user of IAM without any rights, and take a key of theirs as a trap',
        headers: keyHeaderSchema,
        body: provisionedKeySchema,
        response: answers,
      },
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'];
      return reply.code(201).send(await realKeys.provision(actorOf(principalOf(request)), request.body, key));
    },
  );
};
