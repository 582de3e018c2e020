import type { ServiceModule } from '../module.ts';
import { alertRoutes } from './routes.ts';
import type { AlertService } from './service.ts';
import { pagesOfAlerts } from './web/channels.ts';

export function alertsModule({ channels, sendsTests }: AlertService, clock: () => Date): ServiceModule {
  return {
    name: 'alerts',
    routes: (server) => alertRoutes(server, { channels }),
    pages: pagesOfAlerts({ channels, clock }),
    sends: sendsTests,
    jobs: [],
    settled: async () => {},
  };
}
