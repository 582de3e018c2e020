import { lengthOf, type Range, union, without } from '../../../verifier/claims/ranges.ts';
import { monthOf } from '../../../verifier/records/months.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';

/** Codes of findings that list sequence numbers missing from the package. */
const OF_MISSING: ReadonlySet<string> = new Set([
  'order/gap',
  'continuity/truncated',
  'continuity/gap',
  'anchor/missing-entry',
]);
/** Codes of findings about missing entries that the operator has accepted. */
const OF_ACCEPTED: ReadonlySet<string> = new Set(['continuity/accepted-missing']);
const OF_DIFFERING = 'completeness/listing-differs';

/** Returns the known gaps of a stream as ranges of sequence numbers. Other gaps cannot be known. */
export function missingIn({ findings, service, ...stream }: RunStream, period: RunRecord['period']): Range[] {
  const first = stream.first_sequence;
  const last = stream.head?.sequence ?? null;
  const placesOf = (matches: (code: string) => boolean) => placesIn(findings, matches);
  const packaged = first === null || last === null ? [] : [{ from: first, to: last }];
  const { sequence: head } = service.head;
  // A package without an end should reach the head that the service stated before the package was requested.
  const tail = period.to === null && head !== null && last !== null ? [{ from: last + 1, to: head }] : [];
  return union([
    ...placesOf((code) => OF_MISSING.has(code) || OF_ACCEPTED.has(code)),
    // Entries listed outside the package. Inside it, a listed entry that differs is either a gap or another finding.
    ...without(
      placesOf((code) => code === OF_DIFFERING),
      packaged,
    ),
    ...tail,
  ]);
}

function placesIn(findings: RunStream['findings'], matches: (code: string) => boolean): Range[] {
  return findings
    .filter(({ code }) => matches(code))
    .flatMap(({ sequence, from = sequence, to = from }) =>
      from === undefined || to === undefined ? [] : [{ from, to }],
    );
}

/** Returns the missing entries that were accepted; earlier runs have them. */
function acceptedIn({ findings }: RunStream): Range[] {
  return union(placesIn(findings, (code) => OF_ACCEPTED.has(code)));
}

/** Reports whether the operator accepted that some earlier entries are not compared. */
export function isAccepted({ findings }: RunStream): boolean {
  return findings.some(({ code }) => code === 'continuity/accepted');
}

/** Known gaps of a run. */
export interface Missing {
  /** Gaps in received streams: number of streams and of missing entries. */
  streams: number;
  entries: number;
  /** Streams that earlier exports had and this run lacks, and the number of their entries. */
  vanished: number;
  vanishedEntries: number;
  /** Streams, listed or not, with accepted losses since earlier exports, and the number of lost entries. */
  accepted: number;
  acceptedEntries: number;
  /**
   * Streams in scope that were not received, and the number of entries that the service states for them; null if it
   * does not state one for each.
   */
  failed: number;
  failedEntries: number | null;
}

export function toMissing(record: RunRecord): Missing {
  const { streams, vanished, ended, failed, period } = record;
  const stated = statedEntries(record);
  const accepted = [...streams.map((stream) => lengthOf(acceptedIn(stream))), ...ended.map(({ entries }) => entries)];
  const counts = streams
    .map((stream) => lengthOf(without(missingIn(stream, period), acceptedIn(stream))))
    .filter((count) => count > 0);
  return {
    streams: counts.length,
    entries: sum(counts),
    vanished: vanished.length,
    vanishedEntries: sum(vanished.map(({ entries }) => entries)),
    accepted: accepted.filter((count) => count > 0).length,
    acceptedEntries: sum(accepted),
    failed: failed.length,
    failedEntries: sumIfKnown(failed.map(({ stream_id }) => stated.get(stream_id) ?? null)),
  };
}

/**
 * Returns the all-time number of entries that the service lists for each stream that was not received, by id; null if
 * not listed.
 */
export function statedEntries({ stream_list, failed, excluded }: RunRecord): ReadonlyMap<string, number | null> {
  const stated = new Map<string, number | null>([...failed, ...excluded].map(({ stream_id }) => [stream_id, null]));
  if (stated.size > 0)
    for (const { stream_id, entries } of stream_list.streams) if (stated.has(stream_id)) stated.set(stream_id, entries);
  return stated;
}

/** Returns the sum, or null if any count is unknown. */
export function sumIfKnown(counts: readonly (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null);
  return known.length < counts.length ? null : sum(known);
}

export function sum(counts: Iterable<number>): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}

/** Entries dated in a month that was exported without them. */
export interface LateEntries {
  streamId: string;
  /** `11 to 20`, or `from 11` if only the first number is known. */
  numbers: string;
  /** Month of the entries. */
  month: string;
  /** Id of the run that found them. */
  seenBy: string;
}

export function toLate({ streams, run_id: seenBy }: Pick<RunRecord, 'streams' | 'run_id'>): LateEntries[] {
  return streams.flatMap((stream) =>
    grownIn(stream).map(({ sequence, from, to, recorded_at = '' }) => ({
      streamId: stream.stream_id,
      numbers:
        from === undefined || to === undefined ? `from ${sequence}` : from === to ? `${from}` : `${from} to ${to}`,
      month: monthOf(recorded_at) ?? 'unknown',
      seenBy,
    })),
  );
}

/** Returns the number of entries that no export contains although their month was exported. */
export function countUnfetched(stream: Pick<RunStream, 'findings'>): number {
  return grownIn(stream).reduce(
    (sum, { from, to }) => sum + (from === undefined || to === undefined ? 0 : to - from + 1),
    0,
  );
}

function grownIn({ findings }: Pick<RunStream, 'findings'>): RunStream['findings'] {
  return findings.filter(({ code }) => code === 'continuity/grown');
}
