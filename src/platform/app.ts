import { messageOf } from '../core/errors.ts';
import { KeyAuthentication } from './accounts/authentication.ts';
import { keysModule } from './accounts/module.ts';
import { auditModule } from './audit/module.ts';
import { dataFolder } from './folder.ts';
import { closeSoon, listen } from './http/listen.ts';
import { RATE_LIMITS, type RateLimits } from './http/principal.ts';
import { createServer, type LogLevel } from './http/server.ts';
import { keyedResultsJob } from './idempotency/keyed-results.ts';
import { Scheduler } from './jobs/scheduler.ts';
import type { ServiceModule } from './module.ts';
import { openPlace, openSealKeys, type PlatformPlace } from './setup.ts';
import { openAuthority } from './timestamp/open.ts';

export interface PlatformOptions extends PlatformPlace {
  /** 0 for any that is free. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** An RFC 3161 authority; without one the development authority of the folder anchors. */
  tsaUrl?: string | null;
  logLevel?: LogLevel;
  rateLimits?: RateLimits;
}

export interface Platform {
  origin: string;
  auditUrl: string;
  /** Ends once requests under way were answered, or after 3 s. */
  close(): Promise<void>;
}

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
    const { logLevel = 'warn', rateLimits = RATE_LIMITS } = options;
    const server = createServer({ logLevel, authenticate, rateLimits, clock });
    const onAnchorFailure = (error: unknown, checkpointId: string | null) =>
      server.log.warn({ checkpointId, reason: messageOf(error) }, 'a checkpoint stays pending');
    const parts = { database, keys: sealKeys, authority, clock, onAnchorFailure };
    const modules: readonly ServiceModule[] = [auditModule(parts), keysModule({ database, clock }, keys)];
    for (const { name, routes } of modules) await server.register(routes, { prefix: `/${name}` });
    const origin = await listen(server, { host: '127.0.0.1', ...options });
    const jobs = [keyedResultsJob(database, clock), ...modules.flatMap((module) => module.jobs)];
    const running = new Scheduler(database, jobs, clock).start((job, error) =>
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
