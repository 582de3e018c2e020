import { Readable } from 'node:stream';
import type { FastifyPluginAsync } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { serveOpenApi } from '../http/openapi.ts';
import { HttpProblem } from '../http/problem.ts';
import { problemResponses } from '../http/responses.ts';
import { serveOperations } from '../operations/operation.ts';
import { TRAIL_LIMITS } from './aws/trail-records.ts';
import type { DecoyDeps } from './decoys/decoy.ts';
import { rawHead } from './decoys/raw-http.ts';
import { credentialOperations, realKeyOperations } from './operations/credentials.ts';
import { detectionOperations } from './operations/detections.ts';
import type { TrapService } from './service.ts';
import {
  detectionSchema,
  madeTrapSchema,
  occurrenceSchema,
  trailTallySchema,
  trapSchema,
  trapStatsSchema,
} from './wire.ts';

/** Routes of the trap credential service, registered under its base path. */
export const trapRoutes: FastifyPluginAsync<{ service: TrapService }> = async (server, { service }) => {
  await serveOpenApi(server, {
    title: 'Trap credentials',
    description:
      'Creates credentials without a legitimate use, states which channels would detect a use of them, and reports every detected use.',
    schemas: {
      Trap: trapSchema,
      MadeTrap: madeTrapSchema,
      JsonValue: madeTrapSchema.shape.credential.valueType,
      Detection: detectionSchema,
      Occurrence: occurrenceSchema,
      TrapStats: trapStatsSchema,
    },
  });
  const operations = {
    ...credentialOperations(service),
    ...realKeyOperations(service),
    ...detectionOperations(service),
  };
  await server.register(async (versioned) => serveOperations(versioned, operations), { prefix: '/api/v1' });
  await server.register(eventRoutes, { service, prefix: '/api/v1' });
  await server.register(callbackRoutes, { deps: service.decoyDeps });
};

/** Documents the body, which is read as a stream without validation. */
const eventsSchema = z.any().meta({
  anyOf: [
    { type: 'object', required: ['Records'], properties: { Records: { type: 'array', items: { type: 'object' } } } },
    { type: 'object', required: ['detail'], properties: { detail: { type: 'object' } } },
  ],
});

const TYPES = ['application/json', 'application/gzip', 'application/x-gzip', 'application/octet-stream'];

/**
 * Routes that receive external events. Bodies are read while they arrive, because they may be larger than those of
 * other routes.
 */
const eventRoutes: FastifyPluginAsyncZod<{ service: TrapService }> = async (server, { service }) => {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(TYPES, (_request, payload, done) => done(null, payload));

  server.post(
    '/events/cloudtrail',
    {
      bodyLimit: TRAIL_LIMITS.sent,
      config: { scope: 'traps:report', takesGzip: true },
      schema: {
        operationId: 'reportCloudTrail',
        tags: ['events'],
        summary:
          'Report AWS CloudTrail events: a log file, gzip or not, one event from EventBridge, or either as delivered by SNS',
        consumes: TYPES.slice(0, 2),
        body: eventsSchema,
        response: { 200: trailTallySchema, ...problemResponses(409, 413) },
      },
    },
    (request) => {
      if (!(request.body instanceof Readable)) throw new HttpProblem(400, 'bad_request', 'the request has no body');
      // Keeps the stream open, so that a sender of too much gets an answer; ending the stream would end the connection.
      return service.trail.take(request.body.iterator({ destroyOnReturn: false }));
    },
  );
};

/** GIF of one transparent pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** Serves the calls of web bugs that lead to the platform itself. All calls get the same answer. */
const callbackRoutes: FastifyPluginAsync<{ deps: DecoyDeps }> = async (server, { deps }) => {
  server.get<{ Params: { token: string } }>(
    '/t/:token.gif',
    { config: { public: true }, schema: { hide: true } },
    async (request, reply) => {
      const trap = await deps.find([{ kind: 'path', value: request.params.token }]);
      if (trap !== null)
        await deps.record({
          trapNo: trap.trapNo,
          channel: 'http',
          depth: 'read',
          eventTime: deps.clock().toISOString(),
          sourceEventId: null,
          sourceIp: request.ip,
          userAgent: request.headers['user-agent'] ?? null,
          action: `GET ${request.url.split('?', 1)[0]}`,
          service: 'http',
          region: null,
          authVerified: null,
          request: rawHead(request.raw),
        });
      return reply.header('cache-control', 'no-store').type('image/gif').send(PIXEL);
    },
  );
};
