import type { OpenService, ServiceDeps } from '../open-module.ts';
import { accountsTidyJob } from './accounts.ts';
import { ApiKeys } from './keys.ts';
import { pagesOfKeys, pagesOfPeople } from './pages/pages.ts';
import { serveKeys, servePeople } from './routes.ts';

export async function openKeys({ authentication, ...deps }: ServiceDeps): Promise<OpenService> {
  const keys = new ApiKeys(deps);
  return {
    routes: (server) => serveKeys(server, keys),
    pages: pagesOfKeys({ keys, clock: deps.clock }),
    jobs: [],
    settled: () => authentication.settled(),
  };
}

export async function openPeople({ accounts, database, clock }: ServiceDeps): Promise<OpenService> {
  return {
    routes: (server) => servePeople(server, accounts),
    pages: pagesOfPeople({ accounts, clock }),
    jobs: [accountsTidyJob(database, clock)],
    settled: async () => {},
  };
}
