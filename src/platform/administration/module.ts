import type { Accounts } from '../accounts/accounts.ts';
import type { ServiceModule } from '../module.ts';
import { recentActs } from './overview.ts';
import { pagesOfAdministration, type Settings } from './pages.ts';
import { administrationRoutes } from './routes.ts';
import { type AdministrationDeps, AdministrationService } from './service.ts';

export interface AdministrationModuleDeps extends AdministrationDeps {
  clock: () => Date;
  accounts: Pick<Accounts, 'people'>;
  settings: Settings;
}

export function administrationModule({ clock, settings, accounts, ...deps }: AdministrationModuleDeps): ServiceModule {
  const service = new AdministrationService(deps);
  return {
    name: 'administration',
    routes: (server) => administrationRoutes(server, { service }),
    pages: pagesOfAdministration({ service, clock, settings, people: accounts.people }),
    overview: { scope: 'administration:read', read: () => recentActs(service, accounts.people) },
    jobs: [],
    settled: async () => {},
  };
}
