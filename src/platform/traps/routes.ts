import type { FastifyPluginAsync } from 'fastify';
import { serveOpenApi } from '../http/openapi.ts';
import { serveOperations } from '../operations/operation.ts';
import { credentialOperations, realKeyOperations } from './operations/credentials.ts';
import { detectionOperations } from './operations/detections.ts';
import { callbackRoutes } from './routes/callback.ts';
import { eventRoutes } from './routes/events.ts';
import type { TrapService } from './service.ts';
import { detectionSchema, madeTrapSchema, occurrenceSchema, trapSchema, trapStatsSchema } from './wire.ts';

/** The trap credential service, to be registered under its base path. */
export const trapRoutes: FastifyPluginAsync<{ service: TrapService }> = async (server, { service }) => {
  await serveOpenApi(server, {
    title: 'Trap credentials',
    description:
      'Makes credentials that are of no use to anybody, says by which channels a use of them would be seen, and tells of every use that was.',
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
