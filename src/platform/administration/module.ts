import type { ServiceModule } from '../module.ts';
import { administrationRoutes } from './routes.ts';
import { type AdministrationMeans, AdministrationService } from './service.ts';

export function administrationModule(means: AdministrationMeans): ServiceModule {
  const service = new AdministrationService(means);
  return {
    name: 'administration',
    routes: (server) => administrationRoutes(server, { service }),
    jobs: [],
    settled: async () => {},
  };
}
