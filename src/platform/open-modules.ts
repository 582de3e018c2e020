import type { FastifyBaseLogger } from 'fastify';
import type { KeyAuthentication } from './accounts/authentication.ts';
import { assembleAlerts } from './alerts/service.ts';
import { dataFolder } from './folder.ts';
import { keyedResultsJob } from './idempotency/keyed-results.ts';
import { outboxTidyJob } from './jobs/outbox.ts';
import type { Job } from './jobs/scheduler.ts';
import { MODULES } from './modules.ts';
import type { NamedService, OpenService, ServiceDeps } from './open-module.ts';
import type { PlatformOptions } from './options.ts';
import type { Parts } from './parts.ts';
import type { FileWatch } from './traps/api.ts';
import { NO_AWS } from './traps/aws/settings.ts';
import { assembleTraps } from './traps/service.ts';

export interface ModuleDeps {
  parts: Parts;
  authentication: KeyAuthentication;
  serverLog: FastifyBaseLogger;
  /** Returns the public address of the platform. */
  publicUrl: () => string;
}

/** Opens the services of a platform. */
export async function openModules(
  options: PlatformOptions,
  { parts, ...shared }: ModuleDeps,
): Promise<readonly NamedService[]> {
  const masterKey = parts.sealKeys.forThread();
  const { outgoingHosts = [] } = options;
  const common = { ...parts, ...shared, options, masterKey, outgoingHosts };
  const alerts = assembleAlerts(common);
  const open: NamedService[] = [];
  const traps = openSharedTraps({ ...common, alerts }, open);
  for (const { name, load } of MODULES) {
    const openService: (deps: ServiceDeps) => Promise<OpenService> = await load();
    open.push({ name, ...(await openService({ ...common, alerts, traps })) });
  }
  return open;
}

/** Opens the traps, which query other services for their watches. @param others services, which are added later. */
function openSharedTraps(deps: Omit<ServiceDeps, 'traps'>, others: readonly OpenService[]) {
  const { dataDir, decoys = [], aws = NO_AWS } = deps.options;
  return assembleTraps({
    ...deps,
    decoys,
    aws,
    folder: dataFolder(dataDir).decoys,
    async watches() {
      const watches: [string, FileWatch][] = [];
      for (const { watches: read } of others) watches.push(...((await read?.()) ?? []));
      return new Map(watches);
    },
    async useDecoy(credentialId, userAgent) {
      for (const { useDecoy } of others) await useDecoy?.(credentialId, userAgent);
    },
  });
}

/** Returns the background jobs of the services, and those that all services share. */
export function jobsOf(modules: readonly OpenService[], { database, clock }: Parts): Job[] {
  const common = [keyedResultsJob, outboxTidyJob].map((job) => job(database, clock));
  return [...common, ...modules.flatMap((module) => module.jobs)];
}
