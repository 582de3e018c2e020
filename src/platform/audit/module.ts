import type { Job } from '../jobs/scheduler.ts';
import type { ServiceModule } from '../module.ts';
import type { Checkpoints } from './checkpoints.ts';
import { auditMetrics } from './metrics.ts';
import { auditRoutes } from './routes.ts';
import { type AuditParts, assembleAudit } from './service.ts';
import { auditOverview } from './web/overview.ts';
import { pagesOfAudit } from './web/pages.ts';

/** The time between tries to anchor checkpoints that could not be. */
const RETRY_MS = 60_000;
/** As many as are anchored in one go, by an authority that answers slowly. */
const LONGEST_RETRY_MS = 20 * 60_000;

export interface AuditSettings {
  /** The minutes between checkpoints of streams that grew; null for only when somebody asks. */
  checkpointMinutes: number | null;
}

export function auditModule(parts: AuditParts, { checkpointMinutes }: AuditSettings): ServiceModule {
  const service = assembleAudit(parts);
  const { appender, checkpoints, readers } = service;
  return {
    name: 'audit',
    routes: (server) => auditRoutes(server, { service }),
    pages: pagesOfAudit({ service }),
    overview: {
      scope: 'audit:read',
      read: (signal) => auditOverview(service, signal),
    },
    metrics: auditMetrics(service),
    jobs: [
      {
        name: 'audit/anchor-pending',
        everyMs: RETRY_MS,
        atMostMs: LONGEST_RETRY_MS,
        run: () => checkpoints.retryPending(),
      },
      ...(checkpointMinutes === null ? [] : [checkpointsEvery(checkpointMinutes, checkpoints)]),
    ],
    async settled() {
      await appender.settled();
      await checkpoints.settled();
      await readers.close();
    },
  };
}

function checkpointsEvery(minutes: number, checkpoints: Checkpoints): Job {
  return {
    name: 'audit/checkpoint-grown',
    everyMs: minutes * 60_000,
    atMostMs: LONGEST_RETRY_MS,
    run: () => checkpoints.createWhereGrown(),
  };
}
