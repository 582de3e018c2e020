import { Readable } from 'node:stream';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { HttpProblem } from '../../http/problem.ts';
import { problemResponses } from '../../http/responses.ts';
import { TRAIL_LIMITS } from '../aws/trail-records.ts';
import type { TrapService } from '../service.ts';

const trailTallySchema = z.object({
  /** All that were delivered. */
  events: z.int(),
  /** Those that are uses of traps. */
  matched: z.int(),
  /** Events that were recorded before. */
  known: z.int(),
});

/** Whatever arrives is taken as a stream; the document says what is in it. */
const eventsSchema = z.any().meta({
  anyOf: [
    { type: 'object', required: ['Records'], properties: { Records: { type: 'array', items: { type: 'object' } } } },
    { type: 'object', required: ['detail'], properties: { detail: { type: 'object' } } },
  ],
});

const TYPES = ['application/json', 'application/gzip', 'application/x-gzip', 'application/octet-stream'];

/**
 * Routes that take events from outside. Bodies are read while they arrive: they may be larger than those of other
 * routes.
 */
export const eventRoutes: FastifyPluginAsyncZod<{ service: TrapService }> = async (server, { service }) => {
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
          'Bring events of AWS CloudTrail: a log file, gzip or not, one event as EventBridge passes it on, or either as SNS delivers it',
        consumes: TYPES.slice(0, 2),
        body: eventsSchema,
        response: { 200: trailTallySchema, ...problemResponses(409, 413) },
      },
    },
    (request) => {
      if (!(request.body instanceof Readable)) throw new HttpProblem(400, 'bad_request', 'the request has no body');
      // A sender of too much gets an answer; ending the stream would end the connection.
      return service.trail.take(request.body.iterator({ destroyOnReturn: false }));
    },
  );
};
