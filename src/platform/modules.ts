import type { FastifyBaseLogger } from 'fastify';
import { messageOf } from '../core/errors.ts';
import type { KeyAuthentication } from './accounts/authentication.ts';
import { keysModule, peopleModule } from './accounts/module.ts';
import { administrationModule } from './administration/module.ts';
import { decoyWatches } from './agents/api.ts';
import { agentsModule } from './agents/module.ts';
import { TRUST_TIMES } from './agents/settings.ts';
import { alertsModule } from './alerts/module.ts';
import { assembleAlerts } from './alerts/service.ts';
import { auditModule } from './audit/module.ts';
import { baitWatches } from './endpoints/api.ts';
import { endpointsModule } from './endpoints/module.ts';
import { dataFolder } from './folder.ts';
import { RATE_LIMITS } from './http/principal.ts';
import { keyedResultsJob } from './idempotency/keyed-results.ts';
import { outboxTidyJob } from './jobs/outbox.ts';
import type { Job } from './jobs/scheduler.ts';
import type { ServiceModule } from './module.ts';
import type { PlatformOptions } from './options.ts';
import type { Parts } from './parts.ts';
import { settingsInForce } from './settings-in-force.ts';
import { openAuthority } from './timestamp/open.ts';
import { NO_AWS } from './traps/aws/settings.ts';
import { trapsModule } from './traps/module.ts';
import { assembleTraps } from './traps/service.ts';

export interface ModuleDeps {
  parts: Parts;
  keys: KeyAuthentication;
  log: FastifyBaseLogger;
  /** The address where the platform is reached. */
  publicUrl: () => string;
}

/** The services of a platform: a new one is a folder and a line. */
export async function openModules(
  options: PlatformOptions,
  { parts, keys, log, publicUrl }: ModuleDeps,
): Promise<readonly ServiceModule[]> {
  const { tsaUrl = null, dataDir, checkpointMinutes = null, decoys = [], aws = NO_AWS, outgoingHosts = [] } = options;
  const { rateLimits = RATE_LIMITS, trustTimes = TRUST_TIMES } = options;
  const folder = dataFolder(dataDir);
  const authority = await openAuthority(tsaUrl, folder.authority);
  const masterKey = parts.sealKeys.forThread();
  const alerts = assembleAlerts({ ...parts, masterKey, outgoingHosts, publicUrl });
  const onAnchorFailure = (error: unknown, checkpointId: string | null) =>
    log.warn({ checkpointId, reason: messageOf(error) }, 'a checkpoint stays pending');
  const traps = assembleTraps({
    ...parts,
    masterKey,
    decoys,
    aws,
    alerts,
    folder: folder.decoys,
    publicUrl,
    serverLog: log,
    watches: async () => new Map([...(await baitWatches(parts.database)), ...(await decoyWatches(parts.database))]),
    useDecoy: (credentialId, userAgent) => agents.useDecoy(credentialId, userAgent),
  });
  const common = { ...parts, alerts, outgoingHosts, publicUrl };
  const agents = agentsModule({ ...common, masterKey, rateLimits, trustTimes, vaultTraps: traps.vaultTraps });
  return [
    auditModule({ ...parts, keys: parts.sealKeys, authority, onAnchorFailure }, { checkpointMinutes }),
    trapsModule(traps, { ...parts, alerts }),
    endpointsModule({ ...parts, alerts, masterKey, baitTraps: traps.bait }),
    agents,
    alertsModule(alerts, parts.clock),
    keysModule(parts, keys),
    peopleModule(parts, parts.accounts),
    administrationModule({ ...parts, settings: settingsInForce(options) }),
  ];
}

/** Returns the jobs that are done besides answering, by the services and for all of them. */
export function jobsOf(modules: readonly ServiceModule[], { database, clock }: Parts): Job[] {
  const common = [keyedResultsJob, outboxTidyJob].map((job) => job(database, clock));
  return [...common, ...modules.flatMap((module) => module.jobs)];
}
