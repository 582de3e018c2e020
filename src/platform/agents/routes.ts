import type { FastifyPluginAsync } from 'fastify';
import { serveOpenApi } from '../http/openapi.ts';
import { agentSchema, onboardedSchema } from './requests/agents.ts';
import { agentStatsSchema } from './requests/stats.ts';
import { agentRoutes } from './routes/agents.ts';
import type { AgentService } from './service.ts';

/** The agent identity and governance service, to be registered under its base path. */
export const agentServiceRoutes: FastifyPluginAsync<{ service: AgentService }> = async (server, { service }) => {
  await serveOpenApi(server, {
    title: 'Agent identity and governance',
    description:
      'Gives AI agents an identity, an audit trail, a trust score and a kill switch. It records what agents report, and cannot keep them from doing it; the kill switch reports exactly which steps ran.',
    schemas: {
      Agent: agentSchema,
      Onboarded: onboardedSchema,
      AgentStats: agentStatsSchema,
    },
  });
  for (const routes of [agentRoutes]) await server.register(routes, { service });
};
