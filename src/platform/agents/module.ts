import type { ServiceModule } from '../module.ts';
import { AGENT_SETTINGS } from './settings.ts';
import { AGENT_TABLES } from './tables.ts';

export const agents = {
  name: 'agents',
  scopes: {
    'agents:read': 'to read AI agents, their actions and their trust',
    'agents:write': 'to register, change and onboard AI agents, and to stop and reinstate them',
    'agents:act': 'to report actions as the AI agent that it is bound to; onboarding creates such keys',
  },
  streams: ['agents/'],
  alerts: 'AI agents',
  tables: AGENT_TABLES,
  settings: AGENT_SETTINGS,
  refusals: { agent_revoked: 409, agent_suspended: 409 },
  load: async () => (await import('./open.ts')).openAgents,
} as const satisfies ServiceModule;
