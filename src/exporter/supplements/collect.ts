import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isEvidenceError } from '../../core/errors.ts';
import type { SupplementService } from '../../verifier/supplements/files.ts';
import type { SupplementClient } from '../client/supplement.ts';
import { type MissingSupplement, toMissing } from './missing.ts';
import { Received } from './received.ts';
import { RecordFiles } from './record-files.ts';
import { ServiceCollection, type SupplementScope } from './service-collection.ts';
import type { SupplementSource } from './source.ts';

/** What one service showed, all of it. */
export interface CollectedService {
  service: SupplementService;
  url: string;
  collectedAt: Date;
  received: Received;
  records: RecordFiles;
}

/** A service that was asked, and did not show all of it. */
export interface MissingService extends MissingSupplement {
  url: string;
  collectedAt: Date;
}

export interface Collected {
  collected: CollectedService[];
  missing: MissingService[];
}

/** Who is told how it goes, where it happens, and by what clock. */
export interface CollectingRuntime {
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
): Promise<Collected> {
  const all: Collected = { collected: [], missing: [] };
  const collecting = [...source.clients].map(async ([service, client]) => {
    runtime.begun(service);
    const outcome = await collectService(service, client, source, scope, runtime);
    if ('reason' in outcome) all.missing.push(outcome);
    else all.collected.push(outcome);
    runtime.ended(outcome);
  });
  const failed = (await Promise.allSettled(collecting)).find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return all;
}

async function collectService(
  service: SupplementService,
  client: SupplementClient,
  { description, limits }: SupplementSource,
  scope: SupplementScope,
  { folder: parent, now }: CollectingRuntime,
): Promise<CollectedService | MissingService> {
  const folder = join(parent, service);
  await mkdir(folder, { recursive: true });
  const received = new Received(folder, limits);
  const records = new RecordFiles(folder, description, scope.period);
  try {
    const collection = new ServiceCollection(client, scope, received, (kind, items) => records.take(kind, items));
    await collection.collect(service, description);
    records.end();
    return { service, url: client.url, collectedAt: now(), received, records };
  } catch (error) {
    records.end();
    await rm(folder, { recursive: true, force: true });
    if (!isEvidenceError(error) || error.code === 'interrupted') throw error;
    return { ...toMissing(service, error), url: client.url, collectedAt: now() };
  }
}
