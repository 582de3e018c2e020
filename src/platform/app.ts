import { join } from 'node:path';
import { messageOf } from '../core/errors.ts';
import { KeyAuthentication } from './accounts/authentication.ts';
import { signedInBy } from './accounts/pages/signed-in.ts';
import { bootstrap } from './bootstrap.ts';
import { closeSoon, listen } from './http/listen.ts';
import { RATE_LIMITS } from './http/principal.ts';
import { createServer } from './http/server.ts';
import { keyedResultsJob } from './idempotency/keyed-results.ts';
import { outboxTidyJob } from './jobs/outbox.ts';
import { Scheduler } from './jobs/scheduler.ts';
import { openModules } from './modules.ts';
import type { PlatformOptions } from './options.ts';
import { openParts } from './parts.ts';
import { startPosting } from './posting.ts';
import { servePages } from './web/web.ts';

export interface Platform {
  origin: string;
  auditUrl: string;
  /** Where mails go, for people. */
  mailTo: string;
  /** What was done for the first account, for people; null where nothing was. */
  bootstrapped: string | null;
  /** Ends once requests under way were answered, or after 3 s. */
  close(): Promise<void>;
}

/**
 * Serves a data folder until `close`.
 * @throws EvidenceError `config` when the folder is not initialised or the port cannot be had.
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const parts = await openParts(options);
  const { database, clock, accounts, sealKeys } = parts;
  try {
    const bootstrapped = await bootstrap(parts, options.environment ?? {});
    const keys = new KeyAuthentication(database, clock);
    const authenticate = (presented: string) => keys.authenticate(presented);
    const { logLevel = 'warn', rateLimits = RATE_LIMITS, mail = { folder: join(options.dataDir, 'mail') } } = options;
    const server = createServer({ logLevel, authenticate, rateLimits, clock });
    const modules = await openModules(options, { parts, keys, log: server.log });
    for (const { name, routes } of modules) await server.register(routes, { prefix: `/${name}` });
    const frame = { findSignedIn: signedInBy(accounts.sessions), masterKey: sealKeys.forThread(), rateLimits, clock };
    await servePages(server, { ...frame, modules, publicUrl: options.publicUrl ?? null });
    const origin = await listen(server, { host: '127.0.0.1', ...options });
    const onFailure = (job: string, error: unknown) =>
      server.log.error({ job, reason: messageOf(error) }, 'a job failed');
    const jobs = [keyedResultsJob, outboxTidyJob].map((job) => job(database, clock));
    const running = new Scheduler(database, [...jobs, ...modules.flatMap((each) => each.jobs)], clock).start(onFailure);
    const means = { database, clock, links: accounts.links, publicUrl: options.publicUrl ?? origin };
    const posting = await startPosting(mail, means, (error) => onFailure('outbox', error));
    return {
      origin,
      auditUrl: `${origin}/audit`,
      mailTo: posting.to,
      bootstrapped,
      async close() {
        await closeSoon(server);
        await running.stop();
        await posting.stop();
        for (const module of modules) await module.settled();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
