import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { actorOf } from '../../accounts/administration.ts';
import { isKnown, sendKnown } from '../../http/etag.ts';
import { principalOf } from '../../http/principal.ts';
import { problemResponses } from '../../http/responses.ts';
import { pageSchema } from '../../http/wire.ts';
import {
  detectionParamsSchema,
  detectionQuerySchema,
  detectionSchema,
  newStatusSchema,
  trapStatsSchema,
  wholeDetectionSchema,
} from '../requests.ts';
import type { TrapService } from '../service.ts';

// Over 40 lines: it is a list of routes.
export const detectionRoutes: FastifyPluginAsyncZod<{ service: TrapService }> = async (server, { service }) => {
  const { detections } = service;

  server.get(
    '/detections/',
    {
      config: { scope: 'traps:read' },
      schema: {
        operationId: 'listDetections',
        tags: ['detections'],
        summary: 'List detections, newest first',
        querystring: detectionQuerySchema,
        response: {
          200: pageSchema(detectionSchema),
          304: z.undefined().describe('Nothing is new since the answer that If-None-Match names.'),
          ...problemResponses(422),
        },
      },
    },
    async ({ query }, reply) => {
      const version = await detections.currentVersion();
      return isKnown(reply, String(version)) ? (sendKnown(reply) as never) : detections.list(query);
    },
  );

  server.get(
    '/stats/',
    {
      config: { scope: 'traps:read' },
      schema: {
        operationId: 'getTrapStats',
        tags: ['detections'],
        summary: 'Count traps, and what was seen of them',
        response: { 200: trapStatsSchema },
      },
    },
    () => service.stats(),
  );

  server.get(
    '/detections/:detection_id',
    {
      config: { scope: 'traps:read' },
      schema: {
        operationId: 'getDetection',
        tags: ['detections'],
        summary: 'Get a detection with its first and last occurrences',
        params: detectionParamsSchema,
        response: { 200: wholeDetectionSchema, ...problemResponses(404) },
      },
    },
    ({ params }) => detections.find(params.detection_id),
  );

  server.post(
    '/detections/:detection_id/status',
    {
      config: { scope: 'traps:write' },
      schema: {
        operationId: 'setDetectionStatus',
        tags: ['detections'],
        summary: 'Acknowledge a detection, put it away, or open it again',
        params: detectionParamsSchema,
        body: newStatusSchema,
        response: { 200: wholeDetectionSchema, ...problemResponses(404, 422) },
      },
    },
    (request) => detections.setStatus(actorOf(principalOf(request)), request.params.detection_id, request.body.status),
  );
};
