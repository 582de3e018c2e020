import { lengthOf, type Range, union, without } from '../../../verifier/claims/ranges.ts';
import { monthOf } from '../../../verifier/records/months.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';

/** Findings whose places are numbers that the package should have and has not. */
const OF_MISSING: ReadonlySet<string> = new Set([
  'order/gap',
  'continuity/truncated',
  'continuity/gap',
  'anchor/missing-entry',
]);
/** Gone too, and somebody accepted that. */
const OF_ACCEPTED: ReadonlySet<string> = new Set(['continuity/accepted-missing']);
const OF_DIFFERING = 'completeness/listing-differs';

/** The known gaps of a stream, by sequence number. Nobody can know of others. */
export function missingIn({ findings, service, ...stream }: RunStream, period: RunRecord['period']): Range[] {
  const first = stream.first_sequence;
  const last = stream.head?.sequence ?? null;
  const placesOf = (matches: (code: string) => boolean) => placesIn(findings, matches);
  const packaged = first === null || last === null ? [] : [{ from: first, to: last }];
  const { sequence: head } = service.head;
  // A package that goes up to the end has the head that was stated before it was asked for.
  const tail = period.to === null && head !== null && last !== null ? [{ from: last + 1, to: head }] : [];
  return union([
    ...placesOf((code) => OF_MISSING.has(code) || OF_ACCEPTED.has(code)),
    // Entries listed outside of the package; those within it differ otherwise, or are a gap.
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

/** The part that somebody accepted; earlier runs have it. */
function acceptedIn({ findings }: RunStream): Range[] {
  return union(placesIn(findings, (code) => OF_ACCEPTED.has(code)));
}

/** True if the exporter's user accepted that some earlier entries are not compared. */
export function isAccepted({ findings }: RunStream): boolean {
  return findings.some(({ code }) => code === 'continuity/accepted');
}

/** The known gaps of a run. */
export interface Missing {
  /** Within the streams that were received. */
  streams: number;
  entries: number;
  /** Streams that earlier exports had, and how many entries they had. */
  vanished: number;
  vanishedEntries: number;
  /** The number of entries that are gone since earlier exports, in listed and unlisted streams, and were accepted. */
  accepted: number;
  acceptedEntries: number;
  /**
   * Streams in scope that were not received, and how many entries the service states of them; null where it states
   * none.
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

/** The number of entries of all time that the list states for streams not received, by id; null if it states none. */
export function statedEntries({ stream_list, failed, excluded }: RunRecord): ReadonlyMap<string, number | null> {
  const stated = new Map<string, number | null>([...failed, ...excluded].map(({ stream_id }) => [stream_id, null]));
  if (stated.size > 0)
    for (const { stream_id, entries } of stream_list.streams) if (stated.has(stream_id)) stated.set(stream_id, entries);
  return stated;
}

/** Null where one of them is not known. */
export function sumIfKnown(counts: readonly (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null);
  return known.length < counts.length ? null : sum(known);
}

export function sum(counts: Iterable<number>): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}

/** Entries of a stream that are dated into a month which was exported without them. */
export interface LateEntries {
  streamId: string;
  /** `11 to 20`, or `from 11` where only the first is known. */
  numbers: string;
  /** The month that they are dated into. */
  month: string;
  /** The run that found them. */
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

/** Number of entries that no export has, although their month was exported. */
export function countUnfetched(stream: Pick<RunStream, 'findings'>): number {
  return grownIn(stream).reduce(
    (sum, { from, to }) => sum + (from === undefined || to === undefined ? 0 : to - from + 1),
    0,
  );
}

function grownIn({ findings }: Pick<RunStream, 'findings'>): RunStream['findings'] {
  return findings.filter(({ code }) => code === 'continuity/grown');
}
