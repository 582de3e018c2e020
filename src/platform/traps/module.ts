import type { ServiceModule } from '../module.ts';
import { ALERT_KIND } from './alerts/alerting.ts';
import { noteAlert } from './alerts/standing.ts';
import { trapRoutes } from './routes.ts';
import { assembleTraps, type TrapParts } from './service.ts';

const SETTLE_MS = 60_000;

export function trapsModule(parts: TrapParts): ServiceModule {
  const service = assembleTraps(parts);
  return {
    name: 'traps',
    routes: (server) => trapRoutes(server, { service }),
    start: () => service.startDecoys(),
    sends: (mail) => new Map([[ALERT_KIND, { deliver: service.sendAlerts(mail), note: noteAlert(parts.clock) }]]),
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
