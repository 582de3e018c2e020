import type { Accounts } from '../accounts/accounts.ts';
import type { Alerts } from '../alerts/api.ts';
import type { RateLimits } from '../http/principal.ts';
import type { ServiceModule } from '../module.ts';
import { SecretBox } from '../secrets.ts';
import type { UseDecoy, VaultTraps } from '../traps/api.ts';
import { alertedAgents } from './alerting.ts';
import type { AgentServiceDeps } from './deps.ts';
import { OwnQuestions } from './own-questions.ts';
import { agentServiceRoutes } from './routes.ts';
import { openAgents } from './service.ts';
import { agentsOverview } from './web/overview.ts';
import { pagesOfAgents } from './web/pages.ts';

export interface AgentsModuleParts extends AgentServiceDeps {
  masterKey: Uint8Array;
  alerts: Alerts;
  accounts: Pick<Accounts, 'people'>;
  rateLimits: RateLimits;
  vaultTraps: VaultTraps;
}

export function agentsModule({
  accounts,
  masterKey,
  rateLimits,
  vaultTraps,
  ...parts
}: AgentsModuleParts): ServiceModule & { useDecoy: UseDecoy } {
  const authorityBox = new SecretBox(masterKey, 'agents/authorities');
  const vaultBox = new SecretBox(masterKey, 'agents/vaults');
  const ownQuestions = new OwnQuestions(new SecretBox(masterKey, 'agents/own-questions'), parts.clock);
  const keeping = { authorityBox, vaultBox, vaultTraps, ownQuestions };
  const { service, jobs, sends, start, settled } = openAgents(parts, keeping);
  const pageParts = { service, clock: parts.clock, people: accounts.people };
  return {
    name: 'agents',
    routes: (server) => agentServiceRoutes(server, { service, rateLimits, ownQuestions, clock: parts.clock }),
    pages: pagesOfAgents(pageParts),
    overview: { scope: 'agents:read', read: () => agentsOverview(pageParts) },
    sends: (mail) => new Map([...parts.alerts.sends(mail, alertedAgents(service.agents)), ...sends]),
    jobs,
    start,
    settled,
    useDecoy: (credentialId, userAgent) => service.vault.useDecoy(credentialId, userAgent),
  };
}
