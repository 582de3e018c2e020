import type { ServiceModule } from '../module.ts';
import { AGENT_TABLES } from './tables.ts';

export const agents = {
  name: 'agents',
  // `agents:act` is for an AI agent that reports what it does.
  scopes: ['agents:read', 'agents:write', 'agents:act'],
  streams: ['agents/'],
  alerts: 'AI agents',
  tables: AGENT_TABLES,
  refusals: { agent_revoked: 409, agent_suspended: 409 },
  load: async () => (await import('./open.ts')).openAgents,
} as const satisfies ServiceModule;
