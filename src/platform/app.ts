import { KeyAuthentication } from './accounts/authentication.ts';
import { signedInBy } from './accounts/pages/signed-in.ts';
import { bootstrap } from './bootstrap.ts';
import type { Database } from './database/database.ts';
import { closeSoon, listen, listeningOrigin } from './http/listen.ts';
import { RATE_LIMITS } from './http/principal.ts';
import { createServer } from './http/server.ts';
import { jobLog, keepLooking, type Looking } from './jobs/looking.ts';
import { Scheduler } from './jobs/scheduler.ts';
import type { NamedService } from './open-module.ts';
import { jobsOf, openModules } from './open-modules.ts';
import type { Platform, PlatformOptions } from './options.ts';
import type { Parts } from './parts.ts';
import { mailSettingsOf, startPosting } from './posting.ts';
import { serveStatus } from './status/status.ts';
import { openPartsInTime } from './waiting.ts';
import { servePages } from './web/web.ts';

/**
 * Serves a data folder until `close`.
 * @throws DatabaseAway as `openPartsInTime`; EvidenceError `config` if the folder is not initialized, mails cannot be
 * written, or the port is not available.
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const parts = await openPartsInTime(options);
  const { database, clock, accounts, administration } = parts;
  const modules: NamedService[] = [];
  try {
    const mail = await mailSettingsOf(options);
    const bootstrapped = await bootstrap(parts, options.environment ?? {});
    const authentication = new KeyAuthentication(database, clock, administration);
    const authenticate = (presented: string) => authentication.authenticate(presented);
    const { rateLimits = RATE_LIMITS, metricsFor = 'key' } = options;
    const server = createServer({ logLevel: 'warn', ...options, authenticate, rateLimits, clock });
    const publicUrl = () => options.publicUrl ?? listeningOrigin(server, options.host ?? '127.0.0.1');
    modules.push(...(await openModules(options, { parts, authentication, serverLog: server.log, publicUrl })));
    for (const module of modules) await module.start?.();
    const scheduler = new Scheduler(database, jobsOf(modules, parts), clock);
    await serveStatus(server, { keys: parts.sealKeys, scheduler, ...parts, modules, metricsFor, mail });
    for (const { name, routes } of modules) await server.register(routes, { prefix: `/${name}` });
    await servePages(server, { ...frameOf(parts), rateLimits, modules, publicUrl: options.publicUrl ?? null });
    const origin = await listen(server, { host: '127.0.0.1', ...options });
    const log = jobLog(server.log);
    const running = keepRunning(scheduler, parts, log);
    const deps = { database, clock, links: accounts.links, publicUrl: publicUrl(), modules };
    const posting = await startPosting(mail, deps, log('outbox'));
    return {
      origin,
      auditUrl: `${origin}/audit`,
      mailTo: posting.to,
      bootstrapped,
      async close() {
        await closeSoon(server);
        await running.stop();
        await posting.stop();
        await end(modules, database);
      },
    };
  } catch (error) {
    await end(modules, database);
    throw error;
  }
}

/** Starts the jobs, and the comparison of clocks. */
function keepRunning(scheduler: Scheduler, { database, time }: Parts, log: ReturnType<typeof jobLog>): Looking {
  const running = [
    scheduler.start((job, error) => log(job).failed(error), log('scheduler')),
    keepLooking(() => time.look(database), log('clock')),
  ];
  return {
    async stop() {
      for (const each of running) await each.stop();
    },
  };
}

async function end(modules: readonly NamedService[], database: Database): Promise<void> {
  for (const module of modules) await module.settled();
  await database.close();
}

function frameOf({ accounts, sealKeys, clock }: Parts) {
  return { findSignedIn: signedInBy(accounts.sessions), masterKey: sealKeys.forThread(), clock };
}
