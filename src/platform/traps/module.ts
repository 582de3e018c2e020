import type { ServiceModule } from '../module.ts';
import { trapRoutes } from './routes.ts';
import { assembleTraps, type TrapParts } from './service.ts';

const SETTLE_MS = 60_000;

export function trapsModule(parts: TrapParts): ServiceModule {
  const service = assembleTraps(parts);
  return {
    name: 'traps',
    routes: (server) => trapRoutes(server, { service }),
    start: () => service.startDecoys(),
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
