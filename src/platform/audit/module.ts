import type { ServiceModule } from '../module.ts';
import { auditRoutes } from './routes.ts';
import { type AuditParts, assembleAudit } from './service.ts';

/** How often checkpoints are anchored that could not be. */
const RETRY_MS = 60_000;

export function auditModule(parts: AuditParts): ServiceModule {
  const service = assembleAudit(parts);
  const { appender, checkpoints } = service;
  return {
    name: 'audit',
    routes: (server) => auditRoutes(server, { service }),
    start() {
      void checkpoints.retryPending();
      const retry = setInterval(() => void checkpoints.retryPending(), RETRY_MS);
      return {
        async stop() {
          clearInterval(retry);
          await appender.settled();
          await checkpoints.settled();
        },
      };
    },
  };
}
