import type { People } from '../../accounts/api.ts';
import type { AgentService } from '../service.ts';

/** The services behind the pages of agents: those that the routes of the API call. */
export interface AgentPageParts {
  service: AgentService;
  people: Pick<People, 'namesOf'>;
  clock: () => Date;
}

export const SEES_AGENTS = { scope: 'agents:read' } as const;
export const CHANGES_AGENTS = { scope: 'agents:write' } as const;
/** Pages that create keys or end rights ask people to prove again who they are. */
export const PROVED = { ...CHANGES_AGENTS, proved: true } as const;
