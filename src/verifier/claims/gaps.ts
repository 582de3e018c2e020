import type { StreamFinding } from '../model/stream-finding.ts';
import type { Span, SpanEntries } from './schemas.ts';
import { isPlaced } from './span.ts';

/** Period of a package, and the place of its entries in the stream; null if it has none. */
export interface Covered {
  name: string;
  period: { from: string | null; to: string | null };
  entries: ({ first: number; last: number } & Pick<SpanEntries, 'first_recorded_at' | 'last_recorded_at'>) | null;
}

/** Returns the first and the last entry of a span with their places. */
export function placeIn({ entries }: Span): Covered['entries'] {
  if (entries === null) return null;
  const { first_sequence: first, head, first_recorded_at, last_recorded_at } = entries;
  return { first, last: head.sequence, first_recorded_at, last_recorded_at };
}

/** Entries between two packages that no package holds, although the periods leave no time uncovered. */
interface Gap {
  from: number;
  to: number;
  before: string;
  after: string;
}

interface Placed extends Covered {
  entries: NonNullable<Covered['entries']>;
}

/** Finds gaps between packages. All times come from the service, so its clock need not be right. */
export function findGaps(covered: readonly Covered[]): Gap[] {
  const placed = covered.filter((one): one is Placed => one.entries !== null);
  placed.sort((a, b) => a.entries.first - b.entries.first);
  const gaps: Gap[] = [];
  let [before] = placed;
  for (const after of placed) {
    if (before === undefined) break;
    const [from, to] = [before.entries.last + 1, after.entries.first - 1];
    if (from <= to && isCovered(before, after, covered))
      gaps.push({ from, to, before: before.name, after: after.name });
    if (after.entries.last > before.entries.last) before = after;
  }
  return gaps;
}

/** Reports whether the periods of the packages cover all the time between the entries at the edges of a hole. */
function isCovered(before: Placed, after: Placed, covered: readonly Covered[]): boolean {
  const [begin, end] = [timeOf(before.entries.last_recorded_at), timeOf(after.entries.first_recorded_at)];
  if (Number.isNaN(begin) || Number.isNaN(end)) return touches(before.period.to, after.period.from);
  const periods = covered.map(toInterval).sort((a, b) => a.from - b.from);
  let reached = begin;
  for (const { from, to } of periods) if (from <= reached) reached = Math.max(reached, to);
  return reached >= end;
}

/** Returns a period as numbers. An open end reaches to the package's last entry: later entries came later. */
function toInterval({ period, entries }: Covered): { from: number; to: number } {
  const from = period.from === null ? Number.NEGATIVE_INFINITY : timeOf(period.from);
  const last = timeOf(entries?.last_recorded_at ?? null);
  return { from, to: period.to === null ? (Number.isNaN(last) ? from : last) : timeOf(period.to) };
}

function touches(to: string | null, from: string | null): boolean {
  return to !== null && from !== null && timeOf(to) >= timeOf(from);
}

function timeOf(text: string | null): number {
  return text === null ? Number.NaN : Date.parse(text);
}

/**
 * Changes the next step of gaps whose entries an earlier run has: the service need not be asked for archived entries.
 */
export function withKnownGaps(findings: readonly StreamFinding[], earlier: readonly Span[]): StreamFinding[] {
  const whole = earlier.filter(isPlaced).filter(({ part }) => !part);
  return findings.map((finding) => {
    const { code, from, to } = finding;
    if (code !== 'order/gap' || from === undefined || to === undefined) return finding;
    const holder = whole.find(({ entries }) => entries.first_sequence <= from && to <= entries.head.sequence);
    if (holder === undefined) return finding;
    return { ...finding, advice: { code: 'compare_with_run', run_id: holder.run_id } };
  });
}
