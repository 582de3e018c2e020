import type { Accounts } from '../accounts/accounts.ts';
import type { Alerts } from '../alerts/api.ts';
import type { ServiceModule } from '../module.ts';
import { SecretBox } from '../secrets.ts';
import { tellerOfEndpoints } from './alerting.ts';
import { NO_KNOWN_FILES } from './explanations.ts';
import type { BaitMeans } from './means.ts';
import { endpointRoutes } from './routes.ts';
import { assembleEndpoints } from './service.ts';
import { stagingJob } from './staging.ts';
import { staleJob } from './stale.ts';

export interface EndpointsModuleParts extends Omit<BaitMeans, 'approvers' | 'knownFiles' | 'baitBox'> {
  masterKey: Uint8Array;
  alerts: Alerts;
  accounts: Pick<Accounts, 'people'>;
}

export function endpointsModule({ accounts, masterKey, ...parts }: EndpointsModuleParts): ServiceModule {
  const means: BaitMeans = {
    ...parts,
    baitBox: new SecretBox(masterKey, 'endpoints/bait'),
    knownFiles: NO_KNOWN_FILES,
    approvers: (reader) => accounts.people.countWith(reader, 'endpoints:write'),
  };
  const service = assembleEndpoints(means);
  parts.baitTraps.watches = () => service.bait.watches();
  return {
    name: 'endpoints',
    routes: (server) => endpointRoutes(server, { service }),
    sends: (mail) => parts.alerts.sends(mail, tellerOfEndpoints(service.events)),
    jobs: [staleJob(means), stagingJob(means.database, means.clock)],
    settled: async () => {},
  };
}
