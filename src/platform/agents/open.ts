import { RATE_LIMITS } from '../http/principal.ts';
import type { OpenService, ServiceDeps } from '../open-module.ts';
import { SecretBox } from '../secrets.ts';
import { alertedAgents } from './alerting.ts';
import { OwnQuestions } from './kill/asking.ts';
import { agentsOverview } from './pages/overview.ts';
import { pagesOfAgents } from './pages/pages.ts';
import { agentServiceRoutes } from './routes.ts';
import { assembleAgents } from './service.ts';
import { TRUST_TIMES } from './settings.ts';
import { decoyWatches } from './vault/decoys.ts';

export async function openAgents({
  accounts,
  masterKey,
  traps,
  options,
  ...shared
}: ServiceDeps): Promise<OpenService> {
  const { database, clock, alerts } = shared;
  const { rateLimits = RATE_LIMITS, trustTimes = TRUST_TIMES } = options;
  const authorityBox = new SecretBox(masterKey, 'agents/authorities');
  const vaultBox = new SecretBox(masterKey, 'agents/vaults');
  const ownQuestions = new OwnQuestions(new SecretBox(masterKey, 'agents/own-questions'), clock);
  const keeping = { authorityBox, vaultBox, vaultTraps: traps.vaultTraps, ownQuestions };
  const { service, jobs, sends, start, settled } = assembleAgents({ ...shared, trustTimes }, keeping);
  const pageParts = { service, clock, people: accounts.people };
  return {
    routes: (server) => agentServiceRoutes(server, { service, rateLimits, ownQuestions, clock }),
    pages: pagesOfAgents(pageParts),
    overview: { scope: 'agents:read', read: () => agentsOverview(pageParts) },
    sends: (mail) => new Map([...alerts.sends(mail, alertedAgents(service.agents)), ...sends]),
    jobs,
    start,
    settled,
    watches: () => decoyWatches(database),
    useDecoy: (credentialId, userAgent) => service.vault.useDecoy(credentialId, userAgent),
  };
}
