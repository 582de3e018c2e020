import swagger from '@fastify/swagger';
import type { FastifyPluginAsync } from 'fastify';
import { openApiOptions } from './openapi.ts';
import { entryRoutes } from './routes/entries.ts';
import { evidenceRoutes } from './routes/evidence.ts';
import { streamRoutes } from './routes/streams.ts';
import type { AuditService } from './service.ts';

/** The audit evidence-chain service, to be registered under its base path. */
export const auditRoutes: FastifyPluginAsync<{ service: AuditService }> = async (server, { service }) => {
  await server.register(swagger, openApiOptions(server.prefix));
  server.get('/openapi.json', { config: { public: true }, schema: { hide: true } }, () => server.swagger());
  await server.register(entryRoutes, { service });
  await server.register(streamRoutes, { service });
  await server.register(evidenceRoutes, { service });
};
