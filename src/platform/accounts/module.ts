import type { ServiceModule } from '../module.ts';
import type { Accounts } from './accounts.ts';
import type { KeyAuthentication } from './authentication.ts';
import { type AccountParts, keyRoutes } from './routes/keys.ts';
import { peopleRoutes } from './routes/people.ts';
import { accountsTidyJob } from './tidy.ts';

export function keysModule(parts: AccountParts, authentication: KeyAuthentication): ServiceModule {
  return {
    name: 'keys',
    routes: (server) => keyRoutes(server, parts),
    jobs: [],
    settled: () => authentication.settled(),
  };
}

export function peopleModule({ database, clock }: AccountParts, accounts: Accounts): ServiceModule {
  return {
    name: 'people',
    routes: (server) => peopleRoutes(server, accounts),
    jobs: [accountsTidyJob(database, clock)],
    settled: async () => {},
  };
}
