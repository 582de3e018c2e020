import type { Span, SpanEntries } from './span-schema.ts';

/** A package's period, and where in the stream its entries stand; null for one without entries. */
export interface Covered {
  name: string;
  period: { from: string | null; to: string | null };
  entries: ({ first: number; last: number } & Pick<SpanEntries, 'first_recorded_at' | 'last_recorded_at'>) | null;
}

/** Returns the first and last entries of a span with their places. */
export function placeIn({ entries }: Span): Covered['entries'] {
  if (entries === null) return null;
  const { first_sequence: first, head, first_recorded_at, last_recorded_at } = entries;
  return { first, last: head.sequence, first_recorded_at, last_recorded_at };
}

/** Entries that no package holds, between two that do, though the periods leave no time that is in none of them. */
export interface Gap {
  from: number;
  to: number;
  before: string;
  after: string;
}

interface Placed extends Covered {
  entries: NonNullable<Covered['entries']>;
}

/** Times are all the service's own, so it does not matter what its clock says. */
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

/** Reports whether every moment between the entries at the edges of a hole is in the period of one of the packages. */
function isCovered(before: Placed, after: Placed, covered: readonly Covered[]): boolean {
  const [begin, end] = [timeOf(before.entries.last_recorded_at), timeOf(after.entries.first_recorded_at)];
  if (Number.isNaN(begin) || Number.isNaN(end)) return touches(before.period.to, after.period.from);
  const periods = covered.map(toInterval).sort((a, b) => a.from - b.from);
  let reached = begin;
  for (const { from, to } of periods) if (from <= reached) reached = Math.max(reached, to);
  return reached >= end;
}

/** A period without an end reaches as far as the package's last entry: what came after it, came later. */
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
