import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { supplementsKey } from '../../verifier/records/keys.ts';
import type { RunSupplements, StoredSupplements } from '../../verifier/records/supplements.ts';
import type { SupplementState } from '../../verifier/supplements/document.ts';
import {
  KIND_NAMES,
  RECORD_KINDS,
  SUPPLEMENT_SERVICES,
  type SupplementService,
} from '../../verifier/supplements/files.ts';
import { ImpliedRecords } from '../../verifier/supplements/implied.ts';
import { NotedStreams } from '../../verifier/verify/noted-entries.ts';
import { type CollectedSupplements, collectSupplements } from '../supplements/collect.ts';
import { type ExportContext, type OpenSupplements, type RunState, sayStepOf } from './context.ts';
import type { StreamSelection } from './plan.ts';
import type { StreamJobs } from './stream-jobs.ts';
import { packSupplements } from './supplement-bag.ts';
import { type JudgedRecords, judgeRecords } from './supplement-judging.ts';
import { storeSupplements } from './supplement-store.ts';

/** Supplements compared with the run's streams. */
interface JudgedSupplements extends OpenSupplements {
  judged: JudgedRecords;
  /** Part of the run record about supplements. */
  record: RunSupplements;
}

/**
 * Collects the supplements of the other services. This happens before the streams are exported, so that the entries
 * that the supplements refer to exist by then.
 */
export async function openSupplements(
  { service, question, runtime }: ExportContext,
  { included }: StreamSelection,
): Promise<OpenSupplements | null> {
  const { supplements: source } = service;
  if (source === null) return null;
  const folder = join(runtime.workDirectory, 'supplements');
  await mkdir(folder);
  const scope = { period: question.period, streams: new Set(included.map(({ streamId }) => streamId)) };
  const collected = await collectSupplements(source, scope, {
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
  const kinds = KIND_NAMES.filter((kind) => collected.collected.some(({ service }) => service === RECORD_KINDS[kind]));
  const implied = new ImpliedRecords(source.contract.supplements, kinds);
  const notes = new NotedStreams(join(folder, 'notes'), wantedOf(collected), implied);
  return { source, collected, notes, folder };
}

/** Compares every record with the entries about it, after all streams were exported. */
export async function judgeCollected(
  context: ExportContext,
  run: Pick<RunState, 'supplements' | 'start'>,
  jobs: StreamJobs,
): Promise<JudgedSupplements | null> {
  if (run.supplements === null) return null;
  const services = toServices(context, run.supplements.collected);
  const judged = await judgeRecords(context, run.supplements, jobs, { services, startedAt: run.start.at });
  return { ...run.supplements, judged, record: { services, ...judged.statement, object: null } };
}

/** Packs and stores the judged supplements. */
export async function archiveSupplements(
  context: ExportContext,
  { start }: Pick<RunState, 'start'>,
  { collected, folder, judged, record }: JudgedSupplements,
): Promise<StoredSupplements> {
  const form = { isPartial: collected.missing.length > 0, isEncrypted: context.recipients !== null };
  const place = supplementsKey(context.question.run_id, form);
  const { object: _object, ...statement } = record;
  const zip = await packSupplements(context, start, { collected, statement, judged: judged.files, folder, place });
  return storeSupplements(context, record, place, zip);
}

/** Returns the sequence numbers of entries that records refer to, by stream id. */
function wantedOf({ collected }: CollectedSupplements): Map<string, Set<number>> {
  const wanted = new Map<string, Set<number>>();
  for (const { wanted: ofService } of collected)
    for (const [streamId, numbers] of ofService)
      wanted.set(streamId, (wanted.get(streamId) ?? new Set()).union(numbers));
  return wanted;
}

type Services = Record<SupplementService, SupplementState>;

function toServices(context: ExportContext, { collected, missing }: CollectedSupplements): Services {
  const services: Partial<Services> = {};
  for (const service of SUPPLEMENT_SERVICES) services[service] = { state: 'not_configured' };
  for (const { service, url, collectedAt } of collected)
    services[service] = { state: 'collected', origin: url, collected_at: collectedAt.toISOString() };
  for (const { service, url, collectedAt, code, reason, next_step } of missing)
    services[service] = {
      state: 'missing',
      origin: url,
      collected_at: collectedAt.toISOString(),
      code,
      reason,
      next_step: sayStepOf(context, next_step),
    };
  return services as Services;
}
