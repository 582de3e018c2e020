import { inParallel } from '../../core/parallel.ts';
import { newestHead } from '../../verifier/claims/span.ts';
import { findLate } from '../../verifier/claims/unfetched.ts';
import type { Past } from '../../verifier/ledger/past.ts';
import { monthOf } from '../../verifier/records/months.ts';
import type { Question } from '../../verifier/records/question.ts';
import type { ServiceInUse } from './context.ts';
import { type ListedStream, selectStreams } from './plan.ts';
import { listUnfetched } from './unfetched.ts';

interface GrownQuestion {
  service: Pick<ServiceInUse, 'client' | 'contract'>;
  scope: Question['scope'];
  /** What all runs had. */
  past: Pick<Past, 'spans'>;
  concurrency: number;
}

/**
 * Months that were exported after their end and that have more entries now, and the streams that these are of, by month;
 * asked of the service. An entry counts if its number is higher than any that was exported.
 */
export async function findGrownMonths(question: GrownQuestion): Promise<ReadonlyMap<string, readonly string[]>> {
  const { service, scope, past, concurrency } = question;
  const grown = new Map<string, Set<string>>();
  if (scope.completeness !== 'listing' || !service.client.listsAfter || past.spans.size === 0) return new Map();
  const { included } = await selectStreams(service.client.listStreams(), scope);
  await inParallel(included, concurrency, async (stream) => {
    for (const month of await grownMonthsOf(question, stream))
      grown.set(month, (grown.get(month) ?? new Set()).add(stream.streamId));
  });
  return new Map([...grown].map(([month, streams]) => [month, [...streams].sort()]));
}

async function grownMonthsOf({ service, past }: GrownQuestion, stream: ListedStream): Promise<string[]> {
  const { streamId } = stream;
  const earlier = past.spans.get(streamId) ?? [];
  const after = newestHead(earlier)?.sequence ?? service.contract.firstSequence - 1;
  const periods = earlier.map(({ period }) => period);
  const unfetched = await listUnfetched(service.client, { streamId, statement: stream, after, periods });
  if (unfetched === null || unfetched.failure !== null) return [];
  return findLate({ streamId }, earlier, unfetched).flatMap(({ recorded_at = '' }) => monthOf(recorded_at) ?? []);
}
