import type { ServiceModule } from '../module.ts';
import { auditRoutes } from './routes.ts';
import { type AuditParts, assembleAudit } from './service.ts';

/** How often checkpoints are anchored that could not be. */
const RETRY_MS = 60_000;
/** As many as are anchored in one go, by an authority that answers slowly. */
const LONGEST_RETRY_MS = 20 * 60_000;

export function auditModule(parts: AuditParts): ServiceModule {
  const service = assembleAudit(parts);
  const { appender, checkpoints } = service;
  return {
    name: 'audit',
    routes: (server) => auditRoutes(server, { service }),
    jobs: [
      {
        name: 'audit/anchor-pending',
        everyMs: RETRY_MS,
        atMostMs: LONGEST_RETRY_MS,
        run: () => checkpoints.retryPending(),
      },
    ],
    async settled() {
      await appender.settled();
      await checkpoints.settled();
    },
  };
}
