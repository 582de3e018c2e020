import type { Accounts } from '../accounts/accounts.ts';
import { entrySchema } from '../audit/api.ts';
import { serveOpenApi } from '../http/openapi.ts';
import type { ServiceModule } from '../module.ts';
import { serveOperations } from '../operations/operation.ts';
import { administrationOperations, deadLetterSchema } from './operations.ts';
import { recentActs } from './overview.ts';
import { pagesOfAdministration, type Settings } from './pages.ts';
import { type AdministrationDeps, AdministrationService } from './service.ts';

export interface AdministrationModuleDeps extends AdministrationDeps {
  clock: () => Date;
  accounts: Pick<Accounts, 'people'>;
  settings: Settings;
}

export function administrationModule({ clock, settings, accounts, ...deps }: AdministrationModuleDeps): ServiceModule {
  const service = new AdministrationService(deps);
  const operations = administrationOperations(service);
  return {
    name: 'administration',
    async routes(server) {
      await serveOpenApi(server, {
        title: 'Administration',
        description:
          'What was done to who may do what, as entries of the stream platform/administration, and messages that could not be delivered.',
        schemas: { Act: entrySchema, JsonValue: entrySchema.shape.metadata.valueType, DeadLetter: deadLetterSchema },
      });
      serveOperations(server, operations);
    },
    pages: pagesOfAdministration({ service, operations, clock, settings, people: accounts.people }),
    overview: { scope: 'administration:read', read: () => recentActs(service, accounts.people) },
    jobs: [],
    settled: async () => {},
  };
}
