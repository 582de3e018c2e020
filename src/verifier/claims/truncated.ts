import type { Head, WalkResult } from '../chain/walk.ts';
import { type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import { entriesIn, type KnownPast } from './continuity-question.ts';
import { sectionOf } from './overlap.ts';
import type { Span } from './schemas.ts';
import { boundOf, isPlaced, newestHead, type Placed } from './span.ts';

/** Finds entries at an end of the package that earlier runs had, that belong to it, and that it lacks. */
export function findMissing({ walk, earlier, period, statement }: KnownPast): StreamFinding[] {
  const newest = newestHead(earlier);
  if (newest === null) return [];
  const { sequence, runId } = newest;
  const { headSequence: stated } = statement;
  const ours = sectionOf(walk);
  const now = (end: number | null) =>
    toStreamFinding(
      'continuity/truncated',
      walk.streamId,
      `the stream now ${end === null ? 'has no entries' : `ends at entry ${end}`}; run ${runId} exported it up to entry ${sequence}`,
      { from: end === null ? firstOf(earlier) : end + 1, to: sequence },
    );
  const isShort = ours === null ? walk.entries === 0 : ours.last < sequence;
  if (isShort && ours === null && period.from === null && period.to === null) return [now(null)];
  if (isShort && stated !== null && stated < sequence) return [now(stated)];
  if (isShort && ours !== null && period.to === null) return [missing(walk, runId, ours.last + 1, sequence)];
  const spans = earlier.filter((span) => isPlaced(span) && !span.part) as Placed[];
  const atEnd = spans.filter(
    (span) => belongs(span, 'last', period) && (ours?.last ?? -1) < span.entries.head.sequence,
  );
  const atStart = spans.filter(
    (span) => ours !== null && belongs(span, 'first', period) && ours.first > span.entries.first_sequence,
  );
  const [last] = atEnd.toSorted((a, b) => b.entries.head.sequence - a.entries.head.sequence);
  const [first] = atStart.toSorted((a, b) => a.entries.first_sequence - b.entries.first_sequence);
  return [
    ...(stated !== null && stated < sequence ? [statedBelow(walk, stated, newest)] : []),
    ...(last === undefined ? [] : [missing(walk, last.run_id, ...lackingAtEnd(last, ours))]),
    ...(first === undefined || ours === null ? [] : [missing(walk, first.run_id, ...lackingAtStart(first, ours))]),
  ];
}

/** Reports that the list of streams ends before an entry that an earlier run exported. */
function statedBelow(walk: WalkResult, stated: number, { sequence, runId }: Head & { runId: string }): StreamFinding {
  const message = `the list of streams states entry ${stated} as the newest; run ${runId} exported the stream up to entry ${sequence}`;
  return toStreamFinding('continuity/truncated', walk.streamId, message, { from: stated + 1, to: sequence });
}

type Section = NonNullable<ReturnType<typeof sectionOf>>;

function lackingAtEnd({ entries }: Placed, ours: Section | null): [from: number, to: number] {
  return [Math.max((ours?.last ?? -1) + 1, entries.first_sequence), entries.head.sequence];
}

function lackingAtStart({ entries }: Placed, ours: Section): [from: number, to: number] {
  return [entries.first_sequence, Math.min(ours.first - 1, entries.head.sequence)];
}

function missing(walk: WalkResult, runId: string, from: number, to: number): StreamFinding {
  const message = `${entriesIn(from, to)}, which run ${runId} exported, ${from === to ? 'is' : 'are'} not in the package`;
  return toStreamFinding('continuity/truncated', walk.streamId, message, { from, to });
}

function firstOf(earlier: readonly Span[]): number {
  return Math.min(...earlier.filter(isPlaced).map(({ entries }) => entries.first_sequence));
}

/**
 * Reports whether the entry at an end of a span belongs to the period: by its time or, if it has none, by the span's
 * period.
 */
function belongs({ entries, period: theirs }: Placed, end: 'first' | 'last', period: Span['period']): boolean {
  const time = Date.parse((end === 'first' ? entries.first_recorded_at : entries.last_recorded_at) ?? '');
  const [from, to] = [boundOf(period.from, -Infinity), boundOf(period.to, Infinity)];
  if (!Number.isNaN(time)) return from <= time && time < to;
  return from <= boundOf(theirs.from, -Infinity) && boundOf(theirs.to, Infinity) <= to;
}
