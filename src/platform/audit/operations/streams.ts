import { pageQuerySchema } from '../../http/fields.ts';
import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import { toGenerated } from '../evidence.ts';
import { listStreams } from '../list.ts';
import { listPackages } from '../packages.ts';
import type { AuditService } from '../service.ts';
import { findStream, streamToWire } from '../streams.ts';
import { findVerification, listVerifications } from '../verifications.ts';
import { activitySchema, statsSchema } from '../wire/stats.ts';
import {
  checkpointSchema,
  generatedSchema,
  packageParamsSchema,
  streamParamsSchema,
  streamSchema,
  streamsQuerySchema,
  verificationParamsSchema,
  wireVerificationSchema,
} from '../wire.ts';

const STREAMS = operationGroup('audit', 'streams');
const CHECKPOINTS = operationGroup('audit', 'checkpoints');
const EVIDENCE = operationGroup('audit', 'evidence');
const STATISTICS = operationGroup('audit', 'statistics');

// Over 40 lines: it is the list of operations.
export function streamOperations(service: AuditService) {
  return {
    listStreams: STREAMS.get('/streams/', {
      summary: 'List streams by ID',
      query: streamsQuerySchema,
      answer: pageSchema(streamSchema),
      refusals: [422],
      work: ({ query }) => listStreams(service.database, service.seals, query),
    }),
    readStream: STREAMS.get('/streams/:stream_id', {
      summary: 'Get a stream',
      params: streamParamsSchema,
      answer: streamSchema,
      refusals: [404],
      work: async ({ params }) => streamToWire(await findStream(service.database, params.stream_id), service.seals),
    }),
    listVerifications: STREAMS.get('/streams/:stream_id/verifications', {
      summary: 'List the checks of a stream, newest first',
      params: streamParamsSchema,
      query: pageQuerySchema,
      answer: pageSchema(wireVerificationSchema),
      refusals: [404, 422],
      work: ({ params, query }) => listVerifications(service.database, service.seals, params.stream_id, query),
    }),
    listPackages: STREAMS.get('/streams/:stream_id/packages', {
      summary: 'List the evidence packages of a stream, newest first',
      params: streamParamsSchema,
      query: pageQuerySchema,
      answer: pageSchema(generatedSchema),
      refusals: [404, 422],
      work: ({ params, query }) => listPackages(service.database, params.stream_id, query),
    }),
    readVerification: STREAMS.get('/verifications/:verification_id', {
      summary: 'Get a check',
      params: verificationParamsSchema,
      answer: wireVerificationSchema,
      refusals: [404],
      work: ({ params }) => findVerification(service.database, service.seals, params.verification_id),
    }),
    listCheckpoints: CHECKPOINTS.get('/streams/:stream_id/checkpoints', {
      summary: 'List the checkpoints of a stream, oldest first',
      params: streamParamsSchema,
      query: pageQuerySchema,
      answer: pageSchema(checkpointSchema),
      refusals: [404, 422],
      work: ({ params, query }) => service.checkpoints.list(params.stream_id, query),
    }),
    verifyStream: STREAMS.post('/streams/:stream_id/verify', {
      scope: 'audit:read',
      summary: 'Check a stream from its first entry to its head and record the outcome',
      params: streamParamsSchema,
      answer: wireVerificationSchema,
      refusals: [404],
      work: ({ params }, { hangUp }) => service.verifier.verify(params.stream_id, hangUp()),
    }),
  };
}

export function evidenceOperations(service: AuditService) {
  return {
    readStatistics: STATISTICS.get('/stats/', {
      summary: 'Get statistics',
      answer: statsSchema,
      work: (_asked, { hangUp }) => service.readers.read('stats', service.clock(), hangUp()),
    }),
    readActivity: STATISTICS.get('/stats/activity', {
      summary: 'Count the entries of the last 30 days, and list the streams with the most entries',
      answer: activitySchema,
      work: (_asked, { hangUp }) => service.readers.read('activity', service.clock(), hangUp()),
    }),
    readPackage: EVIDENCE.get('/evidence/:package_id', {
      summary: 'Get an evidence package',
      params: packageParamsSchema,
      answer: generatedSchema,
      refusals: [404, 409],
      work: async ({ params }) => toGenerated(await service.evidence.find(params.package_id)),
    }),
  };
}
