import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { checkpointSchema, pageSchema, streamSchema, wireVerificationSchema } from '../../../core/wire.ts';
import { pageQuerySchema } from '../../http/fields.ts';
import { problemResponses } from '../../http/responses.ts';
import { listStreams } from '../list.ts';
import { streamParamsSchema } from '../requests.ts';
import type { AuditService } from '../service.ts';
import { findStream, streamToWire } from '../streams.ts';

// Over 40 lines: it is a list of routes.
export const streamRoutes: FastifyPluginAsyncZod<{ service: AuditService }> = async (server, { service }) => {
  server.get(
    '/streams/',
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'listStreams',
        tags: ['streams'],
        summary: 'List streams by id',
        querystring: pageQuerySchema,
        response: { 200: pageSchema(streamSchema), ...problemResponses(422) },
      },
    },
    ({ query }) => listStreams(service.database, query),
  );

  server.get(
    '/streams/:stream_id',
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'readStream',
        tags: ['streams'],
        summary: 'A stream',
        params: streamParamsSchema,
        response: { 200: streamSchema, ...problemResponses(404) },
      },
    },
    async ({ params }) => streamToWire(await findStream(service.database, params.stream_id)),
  );

  server.post(
    '/streams/:stream_id/verify',
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'verifyStream',
        tags: ['streams'],
        summary: 'Check a stream from its first entry to its head and record the outcome',
        params: streamParamsSchema,
        response: { 200: wireVerificationSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => service.verifier.verify(params.stream_id),
  );

  server.post(
    '/streams/:stream_id/checkpoints',
    {
      config: { scope: 'audit:write' },
      schema: {
        operationId: 'makeCheckpoint',
        tags: ['checkpoints'],
        summary: 'Record the head of a stream and have it time-stamped',
        params: streamParamsSchema,
        response: { 201: checkpointSchema, ...problemResponses(404, 409) },
      },
    },
    async ({ params }, reply) => reply.code(201).send(await service.checkpoints.create(params.stream_id)),
  );

  server.get(
    '/streams/:stream_id/checkpoints',
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'listCheckpoints',
        tags: ['checkpoints'],
        summary: 'List the checkpoints of a stream, oldest first',
        params: streamParamsSchema,
        querystring: pageQuerySchema,
        response: { 200: pageSchema(checkpointSchema), ...problemResponses(404, 422) },
      },
    },
    ({ params, query }) => service.checkpoints.list(params.stream_id, query),
  );
};
