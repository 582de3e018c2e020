import { messageOf } from '../../core/errors.ts';
import { dataFolder } from '../folder.ts';
import { jobLog } from '../jobs/looking.ts';
import type { Job } from '../jobs/scheduler.ts';
import type { OpenService, ServiceDeps } from '../open-module.ts';
import { openAuthority } from '../timestamp/open.ts';
import type { Checkpoints } from './checkpoints.ts';
import { auditOverview } from './pages/overview.ts';
import { pagesOfAudit } from './pages/pages.ts';
import { auditRoutes } from './routes.ts';
import { assembleAudit, auditMetrics } from './service.ts';

/** Time between attempts to anchor pending checkpoints. */
const RETRY_MS = 60_000;
/** Maximum duration of one retry of all pending checkpoints with a slow authority. */
const LONGEST_RETRY_MS = 20 * 60_000;

export async function openAudit(deps: ServiceDeps): Promise<OpenService> {
  const { sealKeys: keys, options, serverLog } = deps;
  const authority = await openAuthority(options, dataFolder(options.dataDir).authority, deps.clock);
  const onAnchorFailure = (error: unknown, checkpointId: string | null) =>
    serverLog.warn({ checkpointId, reason: messageOf(error) }, 'a checkpoint stays pending');
  const service = assembleAudit({ ...deps, keys, authority, onAnchorFailure });
  const { appender, checkpoints, readers, indexing } = service;
  const { checkpointMinutes = null } = options;
  return {
    routes: (server) => auditRoutes(server, { service }),
    pages: pagesOfAudit({ service }),
    overview: { scope: 'audit:read', read: (signal) => auditOverview(service, signal) },
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
    start: async () => indexing.start(jobLog(serverLog)('audit/index-entries')),
    async settled() {
      await indexing.stop();
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
