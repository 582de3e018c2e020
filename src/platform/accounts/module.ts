import type { ServiceModule } from '../module.ts';
import type { Accounts } from './accounts.ts';
import type { KeyAuthentication } from './authentication.ts';
import { ApiKeys, type KeysDeps } from './keys.ts';
import { pagesOfKeys, pagesOfPeople } from './pages/pages.ts';
import { serveKeys, servePeople } from './routes.ts';
import { accountsTidyJob } from './tidy.ts';

export function keysModule(deps: KeysDeps, authentication: KeyAuthentication): ServiceModule {
  const keys = new ApiKeys(deps);
  return {
    name: 'keys',
    routes: (server) => serveKeys(server, keys),
    pages: pagesOfKeys({ keys, clock: deps.clock }),
    jobs: [],
    settled: () => authentication.settled(),
  };
}

export function peopleModule({ database, clock }: KeysDeps, accounts: Accounts): ServiceModule {
  return {
    name: 'people',
    routes: (server) => servePeople(server, accounts),
    pages: pagesOfPeople({ accounts, clock }),
    jobs: [accountsTidyJob(database, clock)],
    settled: async () => {},
  };
}
