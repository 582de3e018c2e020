import { serveOpenApi } from '../http/openapi.ts';
import type { ServiceModule } from '../module.ts';
import { serveOperations } from '../operations/operation.ts';
import { alertOperations } from './operations.ts';
import { alertChannelSchema } from './requests.ts';
import type { AlertService } from './service.ts';
import { pagesOfAlerts } from './web/channels.ts';

export function alertsModule({ channels, sendsTests }: AlertService, clock: () => Date): ServiceModule {
  const operations = alertOperations(channels);
  return {
    name: 'alerts',
    async routes(server) {
      await serveOpenApi(server, {
        title: 'Alerts',
        description: 'Channels that notify people of what the services find.',
        schemas: { AlertChannel: alertChannelSchema },
      });
      serveOperations(server, operations);
    },
    pages: pagesOfAlerts({ channels, operations, clock }),
    sends: sendsTests,
    jobs: [],
    settled: async () => {},
  };
}
