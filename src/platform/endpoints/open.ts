import type { OpenService, ServiceDeps } from '../open-module.ts';
import { SecretBox } from '../secrets.ts';
import { alertedEndpoints } from './alerting.ts';
import { baitWatches } from './bait/planting.ts';
import type { BaitDeps } from './deps.ts';
import { endpointsOverview } from './pages/overview.ts';
import { pagesOfEndpoints } from './pages/pages.ts';
import { endpointRoutes } from './routes.ts';
import { assembleEndpoints } from './service.ts';
import { stagingJob } from './staging.ts';
import { staleJob } from './stale.ts';

export async function openEndpoints({ accounts, masterKey, traps, ...shared }: ServiceDeps): Promise<OpenService> {
  const { database, clock, alerts } = shared;
  const deps: BaitDeps = {
    ...shared,
    baitTraps: traps.bait,
    baitBox: new SecretBox(masterKey, 'endpoints/bait'),
    approvers: (reader) => accounts.people.countWith(reader, 'endpoints:write'),
  };
  const service = assembleEndpoints(deps);
  const pageParts = { service, clock, people: accounts.people };
  return {
    routes: (server) => endpointRoutes(server, { service }),
    pages: pagesOfEndpoints(pageParts),
    overview: { scope: 'endpoints:read', read: () => endpointsOverview(pageParts) },
    sends: (mail) => alerts.sends(mail, alertedEndpoints(service.events)),
    jobs: [staleJob(deps), stagingJob(database, clock)],
    watches: () => baitWatches(database),
    settled: async () => {},
  };
}
