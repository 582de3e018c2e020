import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { hangUpOf } from '../../http/caller.ts';
import { pageQuerySchema } from '../../http/fields.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import { listStreams } from '../list.ts';
import { listPackages } from '../packages.ts';
import { streamParamsSchema, streamsQuerySchema, verificationParamsSchema } from '../requests.ts';
import type { AuditService } from '../service.ts';
import { findStream, streamToWire } from '../streams.ts';
import { findVerification, listVerifications } from '../verifications.ts';
import { checkpointSchema, generatedSchema, streamSchema, wireVerificationSchema } from '../wire.ts';

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
        querystring: streamsQuerySchema,
        response: { 200: pageSchema(streamSchema), ...problemResponses(422) },
      },
    },
    ({ query }) => listStreams(service.database, service.seals, query),
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
    async ({ params }) => streamToWire(await findStream(service.database, params.stream_id), service.seals),
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
    ({ params }, reply) => service.verifier.verify(params.stream_id, hangUpOf(reply)),
  );

  server.get(
    '/streams/:stream_id/verifications',
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'listVerifications',
        tags: ['streams'],
        summary: 'List the checks of a stream, newest first',
        params: streamParamsSchema,
        querystring: pageQuerySchema,
        response: { 200: pageSchema(wireVerificationSchema), ...problemResponses(404, 422) },
      },
    },
    ({ params, query }) => listVerifications(service.database, service.seals, params.stream_id, query),
  );

  server.get(
    '/streams/:stream_id/packages',
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'listPackages',
        tags: ['streams'],
        summary: 'List the evidence packages of a stream, newest first',
        params: streamParamsSchema,
        querystring: pageQuerySchema,
        response: { 200: pageSchema(generatedSchema), ...problemResponses(404, 422) },
      },
    },
    ({ params, query }) => listPackages(service.database, params.stream_id, query),
  );

  server.get(
    '/verifications/:verification_id',
    {
      config: { scope: 'audit:read' },
      schema: {
        operationId: 'readVerification',
        tags: ['streams'],
        summary: 'A check',
        params: verificationParamsSchema,
        response: { 200: wireVerificationSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => findVerification(service.database, service.seals, params.verification_id),
  );

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
