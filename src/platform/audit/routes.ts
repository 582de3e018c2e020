import type { FastifyPluginAsync } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { type ServiceDescription, serveOpenApi } from '../http/openapi.ts';
import { principalOf, refuseBeyond } from '../http/principal.ts';
import { problemResponses } from '../http/responses.ts';
import { serveOperations } from '../operations/operation.ts';
import { evidenceOperations, streamOperations } from './operations/streams.ts';
import { entryRoutes } from './routes/entries.ts';
import { evidenceRoutes } from './routes/evidence.ts';
import type { AuditService } from './service.ts';
import { statsSchema } from './wire/stats.ts';
import {
  checkpointSchema,
  entrySchema,
  generatedSchema,
  streamParamsSchema,
  streamSchema,
  summarySchema,
  wireVerificationSchema,
} from './wire.ts';

const AUDIT_DESCRIPTION: ServiceDescription = {
  title: 'Audit evidence chain',
  description:
    'Records a hash chain of audit entries, each sealed with an HMAC, anchors checkpoints at an RFC 3161 time-stamping authority and exports evidence packages. A stream is shown as verified only after Verify was run on it; streams are not verified automatically.',
  schemas: {
    Entry: entrySchema,
    JsonValue: entrySchema.shape.metadata.valueType,
    Stream: streamSchema,
    Verification: wireVerificationSchema,
    Checkpoint: checkpointSchema,
    EvidencePackage: generatedSchema,
    EvidenceSummary: summarySchema,
    Statistics: statsSchema,
  },
};

/** Routes of the audit evidence chain service, registered under its base path. */
export const auditRoutes: FastifyPluginAsync<{ service: AuditService }> = async (server, { service }) => {
  await serveOpenApi(server, AUDIT_DESCRIPTION);
  await server.register(entryRoutes, { service });
  await server.register(checkpointRoutes, { service });
  serveOperations(server, { ...streamOperations(service), ...evidenceOperations(service) });
  await server.register(evidenceRoutes, { service });
};

/** Serves the creation of a checkpoint, or the existing one. */
const checkpointRoutes: FastifyPluginAsyncZod<{ service: AuditService }> = async (server, { service }) => {
  server.post(
    '/streams/:stream_id/checkpoints',
    {
      config: { scope: 'audit:write' },
      schema: {
        operationId: 'makeCheckpoint',
        tags: ['checkpoints'],
        summary:
          'Record the head of a stream as a checkpoint and have it time-stamped; returns the existing checkpoint if there is one',
        params: streamParamsSchema,
        response: { 201: checkpointSchema, 200: checkpointSchema, ...problemResponses(404, 409) },
      },
    },
    async (request, reply) => {
      const { params } = request;
      refuseBeyond(principalOf(request), params);
      const { checkpoint, repeated } = await service.checkpoints.create(params.stream_id);
      return reply.code(repeated ? 200 : 201).send(checkpoint);
    },
  );
};
