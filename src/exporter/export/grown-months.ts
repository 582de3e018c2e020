import { inParallel } from '../../core/parallel.ts';
import { newestHead } from '../../verifier/claims/span.ts';
import { type PlacedLate, placeLate } from '../../verifier/claims/unfetched.ts';
import type { Past } from '../../verifier/ledger/past.ts';
import { monthOf } from '../../verifier/records/months.ts';
import type { Question } from '../../verifier/records/question.ts';
import type { ServiceInUse } from './context.ts';
import { type ListedStream, selectStreams } from './plan.ts';
import { listUnfetched } from './unfetched.ts';

interface GrownQuestion {
  service: Pick<ServiceInUse, 'client' | 'contract'>;
  scope: Question['scope'];
  /** The entries that all runs had. */
  past: Pick<Past, 'spans' | 'runs'>;
  concurrency: number;
}

/** Streams of which a month has more entries now than were exported. */
export interface GrownMonth {
  streams: readonly string[];
  /** True where a revision would have a gap: entries of other months lie between. */
  isOutOfPlace: boolean;
}

/**
 * Months that were exported after their end and that have more entries now, by month; asked of the service. An entry
 * counts if its number is higher than any that was exported.
 */
export async function findGrownMonths(question: GrownQuestion): Promise<ReadonlyMap<string, GrownMonth>> {
  const { service, scope, past, concurrency } = question;
  const grown = new Map<string, { streams: Set<string>; isOutOfPlace: boolean }>();
  if (scope.completeness !== 'listing' || !service.client.listsAfter || past.runs.size === 0) return new Map();
  const { included } = await selectStreams(service.client.listStreams(), scope);
  await inParallel(included, concurrency, async (stream) => {
    for (const { range, isApart } of await lateIn(question, stream)) {
      const month = monthOf(range.first_recorded_at);
      if (month === null) continue;
      const known = grown.get(month) ?? { streams: new Set(), isOutOfPlace: false };
      known.streams.add(stream.streamId);
      known.isOutOfPlace ||= isApart;
      grown.set(month, known);
    }
  });
  return new Map([...grown].map(([month, one]) => [month, { ...one, streams: [...one.streams].sort() }]));
}

async function lateIn({ service, past }: GrownQuestion, stream: ListedStream): Promise<PlacedLate[]> {
  const { streamId } = stream;
  const earlier = past.spans.get(streamId) ?? [];
  const after = newestHead(earlier)?.sequence ?? service.contract.firstSequence - 1;
  const periods = earlier.map(({ period }) => period);
  const unfetched = await listUnfetched(service.client, { streamId, statement: stream, after, own: null, periods });
  return unfetched === null || unfetched.failure !== null ? [] : placeLate(earlier, unfetched);
}
