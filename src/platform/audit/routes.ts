import type { FastifyPluginAsync } from 'fastify';
import { serveOpenApi } from '../http/openapi.ts';
import { serveOperations } from '../operations/operation.ts';
import { AUDIT_DESCRIPTION } from './openapi.ts';
import { evidenceOperations, streamOperations } from './operations/streams.ts';
import { checkpointRoutes } from './routes/checkpoints.ts';
import { entryRoutes } from './routes/entries.ts';
import { evidenceRoutes } from './routes/evidence.ts';
import type { AuditService } from './service.ts';

/** The audit evidence-chain service, to be registered under its base path. */
export const auditRoutes: FastifyPluginAsync<{ service: AuditService }> = async (server, { service }) => {
  await serveOpenApi(server, AUDIT_DESCRIPTION);
  await server.register(entryRoutes, { service });
  await server.register(checkpointRoutes, { service });
  serveOperations(server, { ...streamOperations(service), ...evidenceOperations(service) });
  await server.register(evidenceRoutes, { service });
};
