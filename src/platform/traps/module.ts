import type { Accounts } from '../accounts/accounts.ts';
import type { Alerts } from '../alerts/api.ts';
import type { ServiceModule } from '../module.ts';
import { alertedTraps } from './alerting.ts';
import { trapRoutes } from './routes.ts';
import type { TrapService } from './service.ts';
import { trapsOverview } from './web/overview.ts';
import { pagesOfTraps } from './web/pages.ts';

const SETTLE_MS = 60_000;

export interface TrapsModuleParts {
  clock: () => Date;
  accounts: Pick<Accounts, 'people'>;
  alerts: Alerts;
}

export function trapsModule(service: TrapService, parts: TrapsModuleParts): ServiceModule {
  const pageParts = { service, clock: parts.clock, people: parts.accounts.people };
  return {
    name: 'traps',
    routes: (server) => trapRoutes(server, { service }),
    pages: pagesOfTraps(pageParts),
    overview: { scope: 'traps:read', read: () => trapsOverview(pageParts) },
    start: () => service.startDecoys(),
    sends: (mail) => parts.alerts.sends(mail, alertedTraps(service.detections)),
    jobs: [
      ...service.jobs,
      {
        name: 'traps/settle',
        everyMs: SETTLE_MS,
        atMostMs: SETTLE_MS,
        run: () => service.detections.settle(),
      },
    ],
    settled: () => service.close(),
  };
}
