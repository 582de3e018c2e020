import type { People } from '../../accounts/api.ts';
import type { AgentService } from '../service.ts';

/** Services behind the pages of agents, which are those of the API's routes. */
export interface AgentPageParts {
  service: AgentService;
  people: Pick<People, 'namesOf'>;
  clock: () => Date;
}

export const SEES_AGENTS = { scope: 'agents:read' } as const;
export const CHANGES_AGENTS = { scope: 'agents:write' } as const;
/** Access to pages that create keys or end rights, which require a fresh authentication. */
export const PROVED = { ...CHANGES_AGENTS, proved: true } as const;
