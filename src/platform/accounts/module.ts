import type { ServiceModule } from '../module.ts';
import type { Accounts } from './accounts.ts';
import type { KeyAuthentication } from './authentication.ts';
import { ApiKeys, type KeysMeans } from './keys.ts';
import { pagesOfKeys, pagesOfPeople } from './pages/pages.ts';
import { keyRoutes } from './routes/keys.ts';
import { peopleRoutes } from './routes/people.ts';
import { accountsTidyJob } from './tidy.ts';

export function keysModule(means: KeysMeans, authentication: KeyAuthentication): ServiceModule {
  const keys = new ApiKeys(means);
  return {
    name: 'keys',
    routes: (server) => keyRoutes(server, { keys }),
    pages: pagesOfKeys({ keys, clock: means.clock }),
    jobs: [],
    settled: () => authentication.settled(),
  };
}

export function peopleModule({ database, clock }: KeysMeans, accounts: Accounts): ServiceModule {
  return {
    name: 'people',
    routes: (server) => peopleRoutes(server, accounts),
    pages: pagesOfPeople({ accounts, clock }),
    jobs: [accountsTidyJob(database, clock)],
    settled: async () => {},
  };
}
