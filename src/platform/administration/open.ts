import { entrySchema } from '../audit/api.ts';
import { serveOpenApi } from '../http/openapi.ts';
import type { OpenService, ServiceDeps } from '../open-module.ts';
import { serveOperations } from '../operations/operation.ts';
import { settingsInForce } from '../settings-in-force.ts';
import { administrationOperations, deadLetterSchema } from './operations.ts';
import { recentActs } from './pages/overview.ts';
import { pagesOfAdministration } from './pages/pages.ts';
import { AdministrationService } from './service.ts';

export async function openAdministration({ options, clock, accounts, ...deps }: ServiceDeps): Promise<OpenService> {
  const sources = { database: deps.database, people: accounts.people, channels: deps.alerts.channels };
  const service = new AdministrationService(deps);
  const operations = administrationOperations(service);
  return {
    async routes(server) {
      await serveOpenApi(server, {
        title: 'Administration',
        description:
          'Administrative acts, as entries of the stream platform/administration, and undeliverable messages.',
        schemas: { Act: entrySchema, JsonValue: entrySchema.shape.metadata.valueType, DeadLetter: deadLetterSchema },
      });
      serveOperations(server, operations);
    },
    pages: pagesOfAdministration({
      service,
      operations,
      clock,
      settings: settingsInForce(options),
      sources,
    }),
    overview: { scope: 'administration:read', read: () => recentActs(service, sources) },
    jobs: [],
    settled: async () => {},
  };
}
