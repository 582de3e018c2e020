import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { TrapService } from '../service.ts';
import {
  detectionParamsSchema,
  detectionQuerySchema,
  detectionSchema,
  newStatusSchema,
  trapStatsSchema,
  wholeDetectionSchema,
} from '../wire.ts';

const DETECTIONS = operationGroup('traps', 'detections');

export function detectionOperations({ detections, stats }: TrapService) {
  return {
    listDetections: DETECTIONS.get('/detections/', {
      summary: 'List detections, newest first',
      query: detectionQuerySchema,
      version: () => detections.currentVersion(),
      answer: pageSchema(detectionSchema),
      refusals: [422],
      work: ({ query }) => detections.list(query),
    }),
    getTrapStats: DETECTIONS.get('/stats/', {
      summary: 'Count traps and detections',
      answer: trapStatsSchema,
      work: () => stats(),
    }),
    getDetection: DETECTIONS.get('/detections/:detection_id', {
      summary: 'Get a detection with its first and last occurrences',
      params: detectionParamsSchema,
      answer: wholeDetectionSchema,
      refusals: [404],
      work: ({ params }) => detections.find(params.detection_id),
    }),
    setDetectionStatus: DETECTIONS.post('/detections/:detection_id/status', {
      summary: 'Acknowledge, archive or reopen a detection',
      params: detectionParamsSchema,
      body: newStatusSchema,
      answer: wholeDetectionSchema,
      refusals: [404, 422],
      work: ({ actor, params, body }) => detections.setStatus(actor, params.detection_id, body.status),
    }),
  };
}
