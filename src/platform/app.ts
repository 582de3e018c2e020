import { messageOf } from '../core/errors.ts';
import { KeyAuthentication } from './accounts/authentication.ts';
import { keysModule } from './accounts/module.ts';
import { auditModule } from './audit/module.ts';
import { dataFolder } from './folder.ts';
import { closeSoon, listen } from './http/listen.ts';
import { RATE_LIMITS } from './http/principal.ts';
import { createServer } from './http/server.ts';
import { keyedResultsJob } from './idempotency/keyed-results.ts';
import { Scheduler } from './jobs/scheduler.ts';
import type { ServiceModule } from './module.ts';
import type { Platform, PlatformOptions } from './options.ts';
import { openPlace, openSealKeys } from './setup.ts';
import { serveStatus } from './status/status.ts';
import { openAuthority } from './timestamp/open.ts';

/**
 * Serves a data folder until `close`.
 * @throws EvidenceError `config` when the folder is not initialised or the port cannot be had.
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const database = await openPlace(options);
  try {
    const sealKeys = await openSealKeys(options.dataDir);
    const authority = await openAuthority(options.tsaUrl ?? null, dataFolder(options.dataDir).authority);
    const clock = () => new Date();
    const keys = new KeyAuthentication(database, clock);
    const authenticate = (presented: string) => keys.authenticate(presented);
    const { logLevel = 'warn', rateLimits = RATE_LIMITS, trustedProxies = [], metricsFor = 'key' } = options;
    const server = createServer({ logLevel, authenticate, rateLimits, trustedProxies, clock });
    const onAnchorFailure = (error: unknown, checkpointId: string | null) =>
      server.log.warn({ checkpointId, reason: messageOf(error) }, 'a checkpoint stays pending');
    const parts = { database, keys: sealKeys, authority, clock, onAnchorFailure };
    const settings = { checkpointMinutes: options.checkpointMinutes ?? null };
    const modules: readonly ServiceModule[] = [auditModule(parts, settings), keysModule({ database, clock }, keys)];
    const jobs = [keyedResultsJob(database, clock), ...modules.flatMap((module) => module.jobs)];
    const scheduler = new Scheduler(database, jobs, clock);
    const metrics = modules.flatMap((module) => module.metrics ?? []);
    await serveStatus(server, { database, keys: sealKeys, scheduler, clock, metrics, metricsFor });
    for (const { name, routes } of modules) await server.register(routes, { prefix: `/${name}` });
    const origin = await listen(server, { host: '127.0.0.1', ...options });
    const running = scheduler.start((job, error) =>
      server.log.error({ job, reason: messageOf(error) }, 'a job failed'),
    );
    return {
      origin,
      auditUrl: `${origin}/audit`,
      async close() {
        await closeSoon(server);
        await running.stop();
        for (const module of modules) await module.settled();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
