import type { z } from 'zod';
import type { Head, WalkResult } from '../chain/walk.ts';
import type { Span, SpanEntries } from './schemas.ts';
import type { verdictSchema } from './verdict-schema.ts';

/** Returns the facts of a walk that later runs compare, as written into records. */
export function seenIn(walk: WalkResult) {
  const { first, head, bound, times } = walk;
  const section = first === null || head === null ? null : { first: first.sequence, last: head.sequence };
  return {
    previous_hash: first?.previous ?? null,
    first_recorded_at: toTime(times.first),
    last_recorded_at: toTime(times.last),
    digests_bind: section !== null && bound,
    entries_sha256: section === null ? null : (walk.contents.get(`${section.first}-${section.last}`) ?? null),
  };
}

function toTime(milliseconds: number): string | null {
  return Number.isNaN(milliseconds) ? null : new Date(milliseconds).toISOString();
}

export function isSamePeriod(one: Span['period'], other: Span['period']): boolean {
  return one.from === other.from && one.to === other.to;
}

/** Returns a bound of a period as a number. @param open value for an open period. */
export function boundOf(bound: string | null, open: number): number {
  return bound === null ? open : Date.parse(bound);
}

/**
 * Returns the entries of a verdict that later runs compare; undefined if entries were not read in order or contradict
 * earlier runs, because nothing can be compared with such a history.
 */
export function spanOf(verdict: z.infer<typeof verdictSchema>): SpanEntries | null | undefined {
  if (verdict.status === 'empty') return null;
  return contradicts(verdict) ? undefined : entriesOf(verdict);
}

/**
 * Returns the entries that the package of a verdict held, even if they contradict earlier runs; undefined if they were
 * not read in order.
 */
export function heldIn(verdict: z.infer<typeof verdictSchema>): SpanEntries | null | undefined {
  return verdict.entries === 0 ? null : entriesOf(verdict);
}

function entriesOf(verdict: z.infer<typeof verdictSchema>): SpanEntries | undefined {
  const { claims, first_sequence, previous_hash, head } = verdict;
  if (claims.order.state !== 'proved') return undefined;
  if (first_sequence === null || previous_hash === null || head === null) return undefined;
  const { first_recorded_at, last_recorded_at, digests_bind, entries_sha256 } = verdict;
  // Members are in the order of the schema, so that a ledger entry that was read gives its own bytes again.
  return {
    first_sequence,
    head,
    previous_hash,
    first_recorded_at,
    last_recorded_at,
    digests_bind,
    entries_sha256,
    agrees: claims.continuity.state === 'proved',
  };
}

/** Reports whether a verdict contradicts earlier runs. A gap does not: it is missing next to the entries. */
function contradicts({ claims, findings }: z.infer<typeof verdictSchema>): boolean {
  if (claims.continuity.state !== 'refuted') return false;
  const found = findings.filter(({ code, severity }) => code.startsWith('continuity/') && severity === 'error');
  return found.length === 0 || found.some(({ code }) => code !== 'continuity/gap');
}

/** Span with entries. */
export interface Placed extends Span {
  entries: SpanEntries;
}

export function isPlaced(span: Span): span is Placed {
  return span.entries !== null;
}

/** Returns the newest entry of all spans and the first run that saw it; null without entries. */
export function newestHead(spans: readonly Span[]): (Head & { runId: string }) | null {
  let newest: Placed | null = null;
  for (const span of spans.filter(isPlaced))
    if (newest === null || span.entries.head.sequence > newest.entries.head.sequence) newest = span;
  if (newest === null) return null;
  const { sequence, hash: digest } = newest.entries.head;
  return { sequence, digest, runId: newest.run_id };
}
