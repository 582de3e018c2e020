import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isEvidenceError } from '../../core/errors.ts';
import {
  KIND_NAMES,
  RECORD_KINDS,
  type RecordKind,
  recordFiles,
  SUPPLEMENT_SERVICES,
  type SupplementService,
} from '../../verifier/supplements/files.ts';
import { readRecords, recordsOfPeriod } from '../../verifier/supplements/reading.ts';
import type { Period } from '../client/period.ts';
import type { SupplementClient } from '../client/supplement.ts';
import { ReceivedAnswers, ServiceCollection, type SupplementScope } from './service-collection.ts';
import { type MissingSupplement, type SupplementSource, toMissingSupplement } from './source.ts';

/** Everything collected from one service. */
interface CollectedService {
  service: SupplementService;
  url: string;
  collectedAt: Date;
  received: ReceivedAnswers;
  /** Sequence numbers, by stream id, of the entries that the service's records of the period refer to. */
  wanted: ReadonlyMap<string, ReadonlySet<number>>;
}

/** Service that was asked but could not be collected completely. */
interface MissingService extends MissingSupplement {
  url: string;
  collectedAt: Date;
}

export interface CollectedSupplements {
  collected: CollectedService[];
  missing: MissingService[];
}

/** Listener, folder and clock of a collection. */
interface CollectingRuntime {
  /** Folder for these supplements only; it is created. */
  folder: string;
  now: () => Date;
  begun(service: SupplementService): void;
  ended(outcome: CollectedService | MissingService): void;
}

/**
 * Collects from all services in parallel. A failing service does not affect the others.
 * @throws Error unless a service caused the failure: an interruption, a full disk.
 */
export async function collectSupplements(
  source: SupplementSource,
  scope: SupplementScope,
  runtime: CollectingRuntime,
): Promise<CollectedSupplements> {
  const all: CollectedSupplements = { collected: [], missing: [] };
  const collecting = [...source.clients].map(async ([service, client]) => {
    runtime.begun(service);
    const outcome = await collectService(service, client, source, scope, runtime);
    if ('reason' in outcome) all.missing.push(outcome);
    else all.collected.push(outcome);
    runtime.ended(outcome);
  });
  const failed = (await Promise.allSettled(collecting)).find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  // Orders the services as every reader expects them.
  all.collected.sort((a, b) => SUPPLEMENT_SERVICES.indexOf(a.service) - SUPPLEMENT_SERVICES.indexOf(b.service));
  return all;
}

async function collectService(
  service: SupplementService,
  client: SupplementClient,
  { contract, limits }: SupplementSource,
  scope: SupplementScope,
  { folder: parent, now }: CollectingRuntime,
): Promise<CollectedService | MissingService> {
  const folder = join(parent, service);
  await mkdir(folder, { recursive: true });
  const received = new ReceivedAnswers(folder, limits);
  try {
    await new ServiceCollection(client, contract, scope, received).collect(service);
    const wanted = await wantedIn(received, contract, service, scope.period);
    return { service, url: client.url, collectedAt: notBefore(received, now()), received, wanted };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (!isEvidenceError(error) || error.code === 'interrupted') throw error;
    return { ...toMissingSupplement(service, error), url: client.url, collectedAt: now() };
  }
}

/** Returns a time not before the last request, even if the clock was set back. */
function notBefore({ transferLog }: ReceivedAnswers, now: Date): Date {
  const asked = transferLog.map(({ exchange }) => exchange?.requested_at ?? '').sort();
  const last = new Date(asked.at(-1) || now);
  return last > now ? last : now;
}

/** @throws EvidenceError `contract` if a record does not match the contract. */
async function wantedIn(
  received: ReceivedAnswers,
  contract: SupplementSource['contract'],
  service: SupplementService,
  period: Period,
): Promise<CollectedService['wanted']> {
  const wanted = new Map<string, Set<number>>();
  const isOfPeriod = recordsOfPeriod(period);
  for (const kind of kindsOf(service))
    for (const path of recordFiles(kind, received.paths))
      for (const record of readRecords(contract, kind, await received.read(path))) {
        const { entry } = record;
        if (entry === null || !isOfPeriod(record)) continue;
        const numbers = wanted.get(entry.streamId) ?? new Set();
        wanted.set(entry.streamId, numbers.add(entry.sequence));
      }
  return wanted;
}

/** Returns the kinds of records that a service provides. */
function kindsOf(service: SupplementService): RecordKind[] {
  return KIND_NAMES.filter((kind) => RECORD_KINDS[kind] === service);
}
