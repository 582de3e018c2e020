import type { OpenService, ServiceDeps } from '../open-module.ts';
import { alertedTraps } from './alerting.ts';
import { trapsOverview } from './pages/overview.ts';
import { pagesOfTraps } from './pages/pages.ts';
import { trapRoutes } from './routes.ts';

const SETTLE_MS = 60_000;

export async function openTraps({ traps: service, alerts, clock, accounts }: ServiceDeps): Promise<OpenService> {
  const pageParts = { service, clock, people: accounts.people };
  return {
    routes: (server) => trapRoutes(server, { service }),
    pages: pagesOfTraps(pageParts),
    overview: { scope: 'traps:read', read: () => trapsOverview(pageParts) },
    start: () => service.startDecoys(),
    sends: (mail) => alerts.sends(mail, alertedTraps(service.detections)),
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
