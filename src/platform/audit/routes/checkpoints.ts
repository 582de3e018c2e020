import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { problemResponses } from '../../http/responses.ts';
import { streamParamsSchema } from '../requests.ts';
import type { AuditService } from '../service.ts';
import { checkpointSchema } from '../wire.ts';

/** Serves a checkpoint that is made, or was before. */
export const checkpointRoutes: FastifyPluginAsyncZod<{ service: AuditService }> = async (server, { service }) => {
  server.post(
    '/streams/:stream_id/checkpoints',
    {
      config: { scope: 'audit:write' },
      schema: {
        operationId: 'makeCheckpoint',
        tags: ['checkpoints'],
        summary: 'Record the head of a stream and have it time-stamped; a head that was gets no second checkpoint',
        params: streamParamsSchema,
        response: { 201: checkpointSchema, 200: checkpointSchema, ...problemResponses(404, 409) },
      },
    },
    async ({ params }, reply) => {
      const { checkpoint, repeated } = await service.checkpoints.create(params.stream_id);
      return reply.code(repeated ? 200 : 201).send(checkpoint);
    },
  );
};
