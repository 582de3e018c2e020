import { setTimeout } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { messageOf } from '../../core/errors.ts';
import type { Alerts } from '../alerts/api.ts';
import type { AuditLog } from '../audit/api.ts';
import type { Database } from '../database/database.ts';
import type { Job } from '../jobs/scheduler.ts';
import { Dispatcher } from '../outgoing/dispatcher.ts';
import { alertOf } from './alerting.ts';
import { Iam, lastUsedJob } from './aws/iam.ts';
import { RealKeys } from './aws/real-keys.ts';
import type { AwsSettings } from './aws/settings.ts';
import { Trail } from './aws/trail.ts';
import { readNamedFiles, trailBucketJob } from './aws/trail-bucket.ts';
import type { NamedLogFiles } from './aws/trail-records.ts';
import { BaitTraps, type FileWatches } from './bait.ts';
import { channelTruthOf } from './channels.ts';
import type { Decoy, DecoyDeps, DecoyPlace, DecoySettings } from './decoys/decoy.ts';
import { startDecoys } from './decoys/start.ts';
import { Detections, DetectionsVersion } from './detections.ts';
import type { CredentialType } from './enums.ts';
import type { TrapServiceDeps } from './making.ts';
import { readOverview, readTrapStats, type TrapsOverview } from './overview.ts';
import { Proving } from './proving.ts';
import { Realism } from './realism.ts';
import { Uses } from './recording.ts';
import { lastReports } from './repository.ts';
import { Traps } from './traps.ts';
import type { TrapUse } from './use.ts';
import { TrapVault } from './vault.ts';
import { type UseDecoy, VaultTraps } from './vault-traps.ts';
import type { TrapStats } from './wire.ts';

/** Dependencies of the routes and pages of traps. */
// Over ten members: it is the list of the service's parts.
export interface TrapService {
  traps: Traps;
  detections: Detections;
  proving: Proving;
  uses: Uses;
  /** Traps whose files an agent plants. */
  bait: BaitTraps;
  /** Traps in the vaults of AI agents. */
  vaultTraps: VaultTraps;
  realism: Realism;
  realKeys: RealKeys;
  trail: Trail;
  /** Jobs of the service. */
  jobs: readonly Job[];
  /** Dependencies of decoys and of the platform's own channels. */
  decoyDeps: DecoyDeps;
  /** Returns the decoys that listen here. */
  places(): readonly DecoyPlace[];
  stats(): Promise<TrapStats>;
  /** Summarizes all traps. */
  overview(): Promise<TrapsOverview>;
  startDecoys(): Promise<void>;
  /** Stops the decoys, and waits until their uses are recorded. */
  close(): Promise<void>;
}

// Over ten members: it is the list of the service's dependencies.
interface TrapParts {
  database: Database;
  clock: () => Date;
  log: AuditLog;
  alerts: Pick<Alerts, 'notify'>;
  masterKey: Uint8Array;
  decoys: readonly DecoySettings[];
  aws: AwsSettings;
  /** Folder in which decoys store their keys. */
  folder: string;
  /** Returns the public address of the platform. */
  publicUrl: () => string;
  serverLog: FastifyBaseLogger;
  /** Queries to other services about the traps that they watch. */
  watches: FileWatches;
  useDecoy: UseDecoy;
}

/** Maximum wait for a record; a client would notice a longer pause. */
const LONGEST_WAIT_MS = 1500;

// Over 40 lines: it is the assembly of the service.
export function assembleTraps(parts: TrapParts): TrapService {
  const { database, clock, log, alerts, masterKey, publicUrl, serverLog, watches, useDecoy } = parts;
  const vault = new TrapVault(masterKey);
  let running: readonly Decoy[] = [];
  const places = () => running.map(({ place }) => place);
  const version = new DetectionsVersion(database);
  const deps = { database, clock, log, vault, version };
  const uses = new Uses(
    database,
    { log, clock, alert: (transaction, detection, trap) => alerts.notify(transaction, alertOf(detection, trap)) },
    version,
  );
  const proving: Proving = new Proving({
    ...deps,
    probeOf: probesOf(
      () => running,
      () => vaultTraps,
    ),
  });
  const detections = new Detections(deps);
  const decoyDeps: DecoyDeps = {
    find: (marks) => vault.find(database, marks),
    record: (use) => recordSoon(use, { uses, proving, serverLog }),
    clock,
    log: serverLog,
  };
  const { trail, iam, jobs } = openAwsChannels(parts.aws, { database, vault, uses, clock });
  const channelTruth = () =>
    channelTruthOf({ places, aws: parts.aws, reports: () => lastReports(database), watches, clock });
  const traps = new Traps({ ...deps, places, publicUrl, channelTruth });
  const bait = new BaitTraps({ ...deps, traps, uses });
  const vaultTraps = new VaultTraps({ ...deps, traps, uses, proving, useDecoy });
  return {
    traps,
    detections,
    proving,
    uses,
    bait,
    vaultTraps,
    decoyDeps,
    places,
    trail,
    jobs,
    realKeys: new RealKeys({ traps, database, clock, places, iam }),
    realism: new Realism({ ...deps, traps, places, publicUrl }),
    overview: () => readOverview(database, places(), clock()),
    stats: () => readTrapStats(database, places(), clock()),
    async startDecoys() {
      running = await startDecoys(parts.decoys, parts.folder, decoyDeps);
    },
    async close() {
      for (const decoy of running) await decoy.close();
      await uses.settled();
    },
  };
}

async function recordSoon(
  use: TrapUse,
  { uses, proving, serverLog }: { uses: Uses; proving: Proving; serverLog: FastifyBaseLogger },
): Promise<void> {
  if (proving.takes(use)) return;
  const { trapNo, channel } = use;
  const recording = uses
    .record(use)
    .catch((error) =>
      serverLog.error({ trapNo, channel, reason: messageOf(error) }, 'a use of a trap could not be recorded'),
    );
  const waited = new AbortController();
  await Promise.race([recording, setTimeout(LONGEST_WAIT_MS, null, { signal: waited.signal }).catch(() => {})]);
  waited.abort();
}

/** Opens the channels through which AWS itself reports uses. `iam` is null if the settings have no aws. */
function openAwsChannels(
  { iam: access, trail: bucket }: AwsSettings,
  { database, vault, uses, clock }: Pick<TrapServiceDeps, 'database' | 'vault' | 'clock'> & { uses: Uses },
) {
  const readFiles =
    bucket === null ? null : (files: NamedLogFiles) => readNamedFiles(bucket, files, { database, trail, clock });
  const trail: Trail = new Trail({ database, marks: vault.marks, uses, clock, readFiles });
  // A configured endpoint may be an internal address, so the settings allow its host.
  const allowed = access?.endpoint == null ? [] : [new URL(access.endpoint).host];
  const iam = access === null ? null : new Iam(access, new Dispatcher({ allowed }), clock);
  const jobs: Job[] = [];
  if (iam !== null) jobs.push(lastUsedJob({ database, vault, uses, iam, clock }));
  if (bucket !== null) jobs.push(trailBucketJob(bucket, { database, trail, clock }));
  return { trail, iam, jobs };
}

/**
 * Returns probes that use a trap as a client would, if this process has one.
 * @param running the decoys that listen here.
 */
function probesOf(running: () => readonly Decoy[], vaultTraps: () => Pick<VaultTraps, 'tryOut'>) {
  return ({ decoy, type }: { decoy: string | null; type: CredentialType }): Decoy['probe'] | undefined => {
    if (type === 'agent_secret' || type === 'agent_tool')
      return ({ trapNo }, mark) => vaultTraps().tryOut(trapNo, mark);
    if (decoy === null) return type === 'web_bug' ? callWebBug : undefined;
    const found = running().find(({ place }) => place.name === decoy);
    return found && ((...use) => found.probe(...use));
  };
}

/** Calls a web bug that leads to the platform itself, at its public address. */
const callWebBug: Decoy['probe'] = async ({ credential }, userAgent) => {
  const url = new URL(String(credential['url']));
  const dispatcher = new Dispatcher({ allowed: [url.host] });
  const { status } = await dispatcher.send({ url, method: 'GET', headers: { 'user-agent': userAgent } });
  if (status !== 200) throw new Error(`${url.host} answered the call with status ${status}.`);
};
