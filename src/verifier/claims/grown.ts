import type { WalkResult } from '../chain/walk.ts';
import { type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import { isPlaced } from './span.ts';
import type { Span, SpanEntries } from './span-schema.ts';

/**
 * What is dated so shortly before the end of a period may be recorded after an export that began at that end: it waits to
 * be written, or the clock of the service is behind ours. Milliseconds.
 */
const LATENESS = 10 * 60_000;

/**
 * Entries that are dated within a period which an earlier run exported after it had ended, and that lie behind the last
 * entry it had then. Where a run between has them, they were told of then.
 */
export function findGrown(walk: WalkResult, earlier: readonly Span[]): StreamFinding[] {
  const whole = earlier.filter(({ part }) => !part);
  const found = new Map<number, StreamFinding>();
  for (const { run_id, period, entries } of whole) {
    const next = entries === null ? firstOf(walk) : entryOf(walk, entries.head.sequence + 1);
    if (next === null || found.has(next.sequence) || !isWithin(next.time, period)) continue;
    const isKnown = whole.filter(isPlaced).some((span) => holds(span.entries, next.sequence));
    if (isKnown) continue;
    const dated = new Date(next.time).toISOString();
    const had = entries === null ? 'without any entry' : `up to entry ${entries.head.sequence}`;
    const message = `entry ${next.sequence} is dated ${dated}, within the period that run ${run_id} exported ${had} after it had ended`;
    found.set(next.sequence, toStreamFinding('continuity/grown', walk.streamId, message, { sequence: next.sequence }));
  }
  return [...found.values()];
}

function firstOf({ first, times }: WalkResult) {
  return first === null ? null : { sequence: first.sequence, time: times.first };
}

function entryOf({ watched }: WalkResult, sequence: number) {
  const entry = watched.get(sequence);
  return entry === undefined ? null : { sequence, time: Date.parse(entry.timestamp) };
}

function isWithin(time: number, { from, to }: Span['period']): boolean {
  if (to === null || Number.isNaN(time)) return false;
  return time < Date.parse(to) - LATENESS && (from === null || time >= Date.parse(from));
}

function holds({ first_sequence, head }: SpanEntries, sequence: number) {
  return first_sequence <= sequence && sequence <= head.sequence;
}
