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

/** All of the evidence of one service. */
interface CollectedService {
  service: SupplementService;
  url: string;
  collectedAt: Date;
  received: ReceivedAnswers;
  /** Numbers of the entries that its records of the period name, by stream id. */
  wanted: ReadonlyMap<string, ReadonlySet<number>>;
}

/** A service that was asked, and did not show all of it. */
interface MissingService extends MissingSupplement {
  url: string;
  collectedAt: Date;
}

export interface CollectedSupplements {
  collected: CollectedService[];
  missing: MissingService[];
}

/** The listener, the folder and the clock of a collection. */
interface CollectingRuntime {
  /** A folder of these supplements alone; it is made. */
  folder: string;
  now: () => Date;
  begun(service: SupplementService): void;
  ended(outcome: CollectedService | MissingService): void;
}

/**
 * Collects from all services at once. What one of them does to itself costs none of the others anything.
 * @throws what is no fault of a service: an interruption, a disk that is full.
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
  // In the order in which everybody reads them.
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

/** A clock that was set back makes no service collected from before it was asked. */
function notBefore({ transferLog }: ReceivedAnswers, now: Date): Date {
  const asked = transferLog.map(({ exchange }) => exchange?.requested_at ?? '').sort();
  const last = new Date(asked.at(-1) || now);
  return last > now ? last : now;
}

/** @throws EvidenceError `contract` for a record that is not as the contract says. */
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

/** Kinds of records that a service shows. */
function kindsOf(service: SupplementService): RecordKind[] {
  return KIND_NAMES.filter((kind) => RECORD_KINDS[kind] === service);
}
