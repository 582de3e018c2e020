import { messageOf } from '../core/errors.ts';
import { KeyAuthentication } from './accounts/authentication.ts';
import { keysModule } from './accounts/module.ts';
import { signedInBy } from './accounts/pages/signed-in.ts';
import { Sessions } from './accounts/sessions.ts';
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
import { servePages } from './web/web.ts';

export interface PlatformOptions extends PlatformPlace {
  /** 0 for any that is free. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** An RFC 3161 authority; without one the development authority of the folder anchors. */
  tsaUrl?: string | null;
  /** How often streams that grew get a checkpoint; without it only when somebody asks. */
  checkpointMinutes?: number | null;
  logLevel?: LogLevel;
  rateLimits?: RateLimits;
  /** Where people reach it, where that is not where it listens. */
  publicUrl?: URL | null;
}

export interface Platform {
  origin: string;
  auditUrl: string;
  /** Ends once requests under way were answered, or after 3 s. */
  close(): Promise<void>;
}

const clock = () => new Date();

/**
 * Serves a data folder until `close`.
 * @throws EvidenceError `config` when the folder is not initialised or the port cannot be had.
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const database = await openPlace(options);
  try {
    const sealKeys = await openSealKeys(options.dataDir);
    const authority = await openAuthority(options.tsaUrl ?? null, dataFolder(options.dataDir).authority);
    const keys = new KeyAuthentication(database, clock);
    const { checkpointMinutes = null, publicUrl = null, logLevel = 'warn', rateLimits = RATE_LIMITS } = options;
    const server = createServer({
      logLevel,
      authenticate: (presented) => keys.authenticate(presented),
      rateLimits,
      clock,
    });
    const onAnchorFailure = (error: unknown, checkpointId: string | null) =>
      server.log.warn({ checkpointId, reason: messageOf(error) }, 'a checkpoint stays pending');
    const audit = auditModule({ database, keys: sealKeys, authority, clock, onAnchorFailure }, { checkpointMinutes });
    const modules: readonly ServiceModule[] = [audit, keysModule({ database, clock }, keys)];
    for (const { name, routes } of modules) await server.register(routes, { prefix: `/${name}` });
    const signedIn = { findSignedIn: signedInBy(new Sessions(database, clock)), masterKey: sealKeys.forThread() };
    await servePages(server, { ...signedIn, modules, publicUrl, rateLimits, clock });
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
