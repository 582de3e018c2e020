import { serveOpenApi } from '../http/openapi.ts';
import type { OpenService, ServiceDeps } from '../open-module.ts';
import { serveOperations } from '../operations/operation.ts';
import { alertOperations } from './operations.ts';
import { pagesOfAlerts } from './pages/channels.ts';
import { alertChannelSchema } from './wire.ts';

export async function openAlerts({
  alerts: { channels, sendsTests },
  clock,
  outbox,
}: ServiceDeps): Promise<OpenService> {
  const operations = alertOperations(channels, outbox);
  return {
    async routes(server) {
      await serveOpenApi(server, {
        title: 'Alerts',
        description: 'Channels that notify people of findings of the services.',
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
