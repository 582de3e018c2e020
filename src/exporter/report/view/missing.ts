import { lengthOf, type Range, union, without } from '../../../verifier/claims/ranges.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';

/** Findings whose places are numbers that the package should have and has not. */
const OF_MISSING: ReadonlySet<string> = new Set([
  'order/gap',
  'continuity/truncated',
  'continuity/gap',
  'anchor/missing-entry',
]);
const OF_DIFFERING = 'completeness/listing-differs';

/** What of a stream is known to be missing, by sequence number: of nothing else can anybody know. */
export function missingIn({ findings, service, ...stream }: RunStream, period: RunRecord['period']): Range[] {
  const first = stream.first_sequence;
  const last = stream.head?.sequence ?? null;
  const placesOf = (matches: (code: string) => boolean) =>
    findings
      .filter(({ code }) => matches(code))
      .flatMap(({ sequence, from = sequence, to = from }) =>
        from === undefined || to === undefined ? [] : [{ from, to }],
      );
  const packaged = first === null || last === null ? [] : [{ from: first, to: last }];
  const { sequence: head } = service.head;
  // A package that goes up to the end has the head that was stated before it was asked for.
  const tail = period.to === null && head !== null && last !== null ? [{ from: last + 1, to: head }] : [];
  return union([
    ...placesOf((code) => OF_MISSING.has(code)),
    // What is listed and lies outside of the package; what lies within it differs otherwise, or is a gap.
    ...without(
      placesOf((code) => code === OF_DIFFERING),
      packaged,
    ),
    ...tail,
  ]);
}

/** What is known to be missing of a run. */
export interface Missing {
  /** Within the streams that were received. */
  streams: number;
  entries: number;
  /** Streams that earlier exports had, and how many entries they had. */
  vanished: number;
  vanishedEntries: number;
  /** Streams in scope that were not received, and how many entries the service states of them; null where it states none. */
  failed: number;
  failedEntries: number | null;
}

export function toMissing(record: RunRecord): Missing {
  const { streams, vanished, failed, period } = record;
  const stated = statedEntries(record);
  const counts = streams.map((stream) => lengthOf(missingIn(stream, period))).filter((count) => count > 0);
  return {
    streams: counts.length,
    entries: sum(counts),
    vanished: vanished.length,
    vanishedEntries: sum(vanished.map(({ entries }) => entries)),
    failed: failed.length,
    failedEntries: sumIfKnown(failed.map(({ stream_id }) => stated.get(stream_id) ?? null)),
  };
}

/** How many entries of all time the service's list of streams states, by stream id; null where it states none. */
export function statedEntries({ stream_list }: RunRecord): ReadonlyMap<string, number | null> {
  return new Map(stream_list.streams.map(({ stream_id, entries }) => [stream_id, entries]));
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
