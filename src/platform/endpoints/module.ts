import type { Accounts } from '../accounts/accounts.ts';
import type { Alerts } from '../alerts/api.ts';
import type { ServiceModule } from '../module.ts';
import { SecretBox } from '../secrets.ts';
import { alertedEndpoints } from './alerting.ts';
import type { BaitDeps } from './deps.ts';
import { knownFiles } from './packages/known-files.ts';
import { endpointRoutes } from './routes.ts';
import { assembleEndpoints } from './service.ts';
import { stagingJob } from './staging.ts';
import { staleJob } from './stale.ts';
import { endpointsOverview } from './web/overview.ts';
import { pagesOfEndpoints } from './web/pages.ts';

export interface EndpointsModuleParts extends Omit<BaitDeps, 'approvers' | 'knownFiles' | 'baitBox'> {
  masterKey: Uint8Array;
  alerts: Alerts;
  accounts: Pick<Accounts, 'people'>;
}

export function endpointsModule({ accounts, masterKey, ...parts }: EndpointsModuleParts): ServiceModule {
  const deps: BaitDeps = {
    ...parts,
    baitBox: new SecretBox(masterKey, 'endpoints/bait'),
    knownFiles,
    approvers: (reader) => accounts.people.countWith(reader, 'endpoints:write'),
  };
  const service = assembleEndpoints(deps);
  const pageParts = { service, clock: parts.clock, people: accounts.people };
  return {
    name: 'endpoints',
    routes: (server) => endpointRoutes(server, { service }),
    pages: pagesOfEndpoints(pageParts),
    overview: { scope: 'endpoints:read', read: () => endpointsOverview(pageParts) },
    sends: (mail) => parts.alerts.sends(mail, alertedEndpoints(service.events)),
    jobs: [staleJob(deps), stagingJob(deps.database, deps.clock)],
    settled: async () => {},
  };
}
