import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { inParallel } from '../../core/parallel.ts';
import type { LateRange, Span, Unfetched } from '../../verifier/claims/schemas.ts';
import { newestHead } from '../../verifier/claims/span.ts';
import type { StreamStatement } from '../../verifier/claims/statement.ts';
import { newestEnd, type PlacedLate, placeLate } from '../../verifier/claims/unfetched.ts';
import type { Past } from '../../verifier/ledger/past.ts';
import { toFailure } from '../../verifier/model/failure.ts';
import { timeSchema } from '../../verifier/model/schemas.ts';
import { monthOf } from '../../verifier/records/months.ts';
import type { Question } from '../../verifier/records/question.ts';
import type { AuditClient } from '../client/audit.ts';
import type { EntryListItem } from '../client/audit-answers.ts';
import type { ServiceInUse } from './context.ts';
import { type ListedStream, selectStreams } from './plan.ts';

/** Maximum number of pages of late entries to read, and of ranges to keep. A revision fetches the rest. */
const MAX_PAGES = 20;
const MAX_RANGES = 100;

interface UnfetchedQuestion {
  streamId: string;
  statement: StreamStatement;
  /** Last sequence number before those that no export has, see `lastFetched`. */
  after: number;
  /** Sequence numbers of the package's entries; null if it has none. */
  own: { first: number; last: number } | null;
  /** Periods of all exports, including this one. */
  periods: readonly Span['period'][];
}

/**
 * Asks the service for the entries that its list of streams states and that no export has: whether they are listed, and
 * which are dated before the end of an exported period. Returns null if there are none, or if the service cannot be
 * asked.
 */
export async function listUnfetched(
  client: Pick<AuditClient, 'listAfter' | 'listsAfter'>,
  { streamId, statement, after, own, periods }: UnfetchedQuestion,
): Promise<Unfetched | null> {
  const { headSequence: to, entryCount } = statement;
  const end = newestEnd(periods);
  if (!client.listsAfter || to === null || to <= after || entryCount === 0 || end === null) return null;
  const asked: Unfetched = { after, to, next: null, late: [], more: false, failure: null };
  try {
    asked.next = await nextAfter(client, streamId, after);
    if (asked.next === null) return asked;
    const ranges = new LateRanges();
    const before = own !== null && after < own.first ? own.first - 1 : null;
    const starts = before === null || own === null ? [after] : [after, own.last];
    for (const start of starts) {
      const until = start === after ? (before ?? to) : to;
      let pages = 0;
      for await (const page of client.listAfter(streamId, start, { from: null, to: end })) {
        pages += 1;
        const isOver = page.some(({ sequence }) => sequence > until);
        asked.more ||= !page.every((entry) => entry.sequence > until || ranges.add(entry)) || pages === MAX_PAGES;
        if (isOver || asked.more) break;
      }
    }
    return { ...asked, late: ranges.list };
  } catch (error) {
    if (!isEvidenceError(error) || error.code === 'interrupted') throw error;
    return { ...asked, failure: toFailure(error) };
  }
}

/** Returns the sequence number of the first entry listed after `after`; null if there is none. */
async function nextAfter(
  client: Pick<AuditClient, 'listAfter'>,
  streamId: string,
  after: number,
): Promise<number | null> {
  let pages = 0;
  for await (const [first] of client.listAfter(streamId, after, { from: null, to: null }, 1)) {
    if (first !== undefined) return first.sequence;
    pages += 1;
    if (pages === MAX_PAGES)
      throw new EvidenceError('service', `the first ${MAX_PAGES} pages of the entries after ${after} are empty`);
  }
  return null;
}

/** Collects consecutive entries of one month into ranges. */
class LateRanges {
  readonly list: LateRange[] = [];

  /** @returns false if the limit of ranges is reached. */
  add({ sequence, timestamp }: EntryListItem): boolean {
    const time = Date.parse(timestamp);
    if (Number.isNaN(time)) return true;
    const at = new Date(time).toISOString();
    // Years beyond four digits are not valid times here.
    if (!timeSchema.safeParse(at).success) return true;
    const last = this.list.at(-1);
    if (last !== undefined && last.to + 1 === sequence && monthOf(last.last_recorded_at) === monthOf(at)) {
      last.to = sequence;
      last.last_recorded_at = at;
      return true;
    }
    if (this.list.length === MAX_RANGES) return false;
    this.list.push({ from: sequence, to: sequence, first_recorded_at: at, last_recorded_at: at });
    return true;
  }
}

interface GrownQuestion {
  service: Pick<ServiceInUse, 'client' | 'contract'>;
  scope: Question['scope'];
  /** Entries that all runs had. */
  past: Pick<Past, 'spans' | 'runs'>;
  concurrency: number;
}

/** Streams of which a month has more entries now than were exported. */
interface GrownMonth {
  streams: readonly string[];
  /** True if a revision would have a gap, because entries of other months lie in between. */
  isOutOfPlace: boolean;
}

/**
 * Asks the service which exported months have more entries now than when they were exported, by month. Counts entries
 * with a sequence number above all exported ones.
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
