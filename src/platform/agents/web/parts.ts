import type { People } from '../../accounts/people.ts';
import type { AgentService } from '../service.ts';

/** What the pages of agents are made with: the same services that the routes of the API call. */
export interface AgentPageParts {
  service: AgentService;
  people: Pick<People, 'namesOf'>;
  clock: () => Date;
}

export const SEES_AGENTS = { scope: 'agents:read' } as const;
export const CHANGES_AGENTS = { scope: 'agents:write' } as const;
/** What makes keys, or ends what an agent may do, asks again who it is. */
export const PROVED = { ...CHANGES_AGENTS, proved: true } as const;
