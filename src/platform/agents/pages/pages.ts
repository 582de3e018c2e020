import type { ModulePages } from '../../web/web.ts';
import { actionPages } from './actions.ts';
import { agentPage } from './agent.ts';
import { agentsPage } from './agents.ts';
import { changePage } from './change.ts';
import { killPages, killsPage, reinstatePage } from './kill.ts';
import { onboardPage } from './onboard.ts';
import type { AgentPageParts } from './parts.ts';
import { AGENTS_PATH } from './paths.ts';
import { receiptPage } from './receipt.ts';
import { registerPage } from './register.ts';
import { simulatePage } from './simulate.ts';
import { subscriberPages } from './subscribers.ts';
import { trustPage } from './trust.ts';
import { decoyPage, vaultActPages } from './vault.ts';

/** Returns the pages of agents, which call the same services as the routes of the API. */
export function pagesOfAgents(parts: AgentPageParts): ModulePages {
  return {
    nav: [{ title: 'Agents', path: AGENTS_PATH, scope: 'agents:read' }],
    async routes(server) {
      for (const serve of PAGES_OF_AGENTS) serve(server, parts);
    },
  };
}

const PAGES_OF_AGENTS = [
  agentsPage,
  registerPage,
  agentPage,
  onboardPage,
  changePage,
  actionPages,
  trustPage,
  simulatePage,
  killPages,
  killsPage,
  receiptPage,
  reinstatePage,
  decoyPage,
  vaultActPages,
  subscriberPages,
];
