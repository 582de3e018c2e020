import { pageSchema } from '../../http/wire.ts';
import { operation } from '../../operations/operation.ts';
import type { TrapService } from '../service.ts';
import {
  detectionParamsSchema,
  detectionQuerySchema,
  detectionSchema,
  newStatusSchema,
  trapStatsSchema,
  wholeDetectionSchema,
} from '../wire.ts';

/** Returns the operations on detections. */
// Over 40 lines: it is the list of operations.
export function detectionOperations({ detections, stats }: TrapService) {
  return {
    listDetections: operation({
      method: 'GET',
      path: '/detections/',
      scope: 'traps:read',
      tag: 'detections',
      summary: 'List detections, newest first',
      query: detectionQuerySchema,
      version: () => detections.currentVersion(),
      answer: pageSchema(detectionSchema),
      refusals: [422],
      work: ({ query }) => detections.list(query),
    }),
    getTrapStats: operation({
      method: 'GET',
      path: '/stats/',
      scope: 'traps:read',
      tag: 'detections',
      summary: 'Count traps, and what was seen of them',
      answer: trapStatsSchema,
      work: () => stats(),
    }),
    getDetection: operation({
      method: 'GET',
      path: '/detections/:detection_id',
      scope: 'traps:read',
      tag: 'detections',
      summary: 'Get a detection with its first and last occurrences',
      params: detectionParamsSchema,
      answer: wholeDetectionSchema,
      refusals: [404],
      work: ({ params }) => detections.find(params.detection_id),
    }),
    setDetectionStatus: operation({
      method: 'POST',
      path: '/detections/:detection_id/status',
      scope: 'traps:write',
      tag: 'detections',
      summary: 'Acknowledge a detection, put it away, or open it again',
      params: detectionParamsSchema,
      body: newStatusSchema,
      answer: wholeDetectionSchema,
      refusals: [404, 422],
      work: ({ actor, params, body }) => detections.setStatus(actor, params.detection_id, body.status),
    }),
  };
}
