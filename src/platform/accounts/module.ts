import type { ServiceModule } from '../module.ts';
import type { KeyAuthentication } from './authentication.ts';
import { type AccountParts, keyRoutes } from './routes.ts';

export function keysModule(parts: AccountParts, authentication: KeyAuthentication): ServiceModule {
  return {
    name: 'keys',
    routes: (server) => keyRoutes(server, parts),
    jobs: [],
    settled: () => authentication.settled(),
  };
}
