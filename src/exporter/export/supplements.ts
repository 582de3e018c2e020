import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredObject } from '../../verifier/archive/archive.ts';
import { supplementsKey } from '../../verifier/records/keys.ts';
import type { RunSupplements } from '../../verifier/records/supplements.ts';
import { type Collected, collectSupplements } from '../supplements/collect.ts';
import type { ExportContext, RunState } from './context.ts';
import { NotedStreams } from './noted-streams.ts';
import type { StreamSelection } from './plan.ts';
import type { StreamJobs } from './stream-jobs.ts';
import { packSupplements } from './supplement-bag.ts';
import { judgeRecords } from './supplement-judging.ts';
import { recoverSupplements, type StoredSupplements, storedSupplementsKey, storeSupplements } from './supplement-store.ts';

/** What was collected from the other services, and the entries that it names, noted while streams are read. */
export interface OpenSupplements {
  collected: Collected;
  notes: NotedStreams;
  /** For what is made of them. */
  folder: string;
}

/**
 * Collects what the services beside the audit service show. It comes before the streams: so the entries that it names are
 * there when these are exported.
 */
export async function openSupplements(
  { service, question, runtime }: ExportContext,
  { included }: StreamSelection,
): Promise<OpenSupplements | null> {
  if (service.supplements === null) return null;
  const folder = join(runtime.workDirectory, 'supplements');
  await mkdir(folder);
  const scope = { period: question.period, streams: new Set(included.map(({ streamId }) => streamId)) };
  const collected = await collectSupplements(service.supplements, scope, {
    folder,
    now: runtime.now,
    begun: (name) => runtime.listen({ type: 'collecting', service: name }),
    ended: (outcome) => {
      if ('reason' in outcome)
        runtime.listen({ type: 'supplement-missing', service: outcome.service, reason: outcome.reason });
      else {
        const { files, bytes } = outcome.received;
        runtime.listen({ type: 'collected', service: outcome.service, answers: files.length, bytes });
      }
    },
  });
  const wanted = wantedOf(collected);
  return { collected, notes: new NotedStreams(join(folder, 'notes'), wanted), folder };
}
