import type { FastifyPluginAsync } from 'fastify';
import { serveOpenApi } from '../http/openapi.ts';
import { AUDIT_DESCRIPTION } from './openapi.ts';
import { entryRoutes } from './routes/entries.ts';
import { evidenceRoutes } from './routes/evidence.ts';
import { streamRoutes } from './routes/streams.ts';
import type { AuditService } from './service.ts';

/** The audit evidence-chain service, to be registered under its base path. */
export const auditRoutes: FastifyPluginAsync<{ service: AuditService }> = async (server, { service }) => {
  await serveOpenApi(server, AUDIT_DESCRIPTION);
  await server.register(entryRoutes, { service });
  await server.register(streamRoutes, { service });
  await server.register(evidenceRoutes, { service });
};
