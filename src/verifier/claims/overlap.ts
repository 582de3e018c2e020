import type { Section } from '../chain/content-hash.ts';
import type { WalkResult } from '../chain/walk.ts';
import type { Span } from './schemas.ts';
import { isPlaced, type Placed } from './span.ts';

/** Returns the section of the stream that a walk saw; null without entries. */
export function sectionOf({ first, head }: WalkResult): Section | null {
  return first === null || head === null ? null : { first: first.sequence, last: head.sequence };
}

/** Returns the entries that a walk and a span both have; null if there are none. */
export function overlapOf(walk: WalkResult, { entries }: Placed): Section | null {
  const ours = sectionOf(walk);
  if (ours === null) return null;
  const both = {
    first: Math.max(ours.first, entries.first_sequence),
    last: Math.min(ours.last, entries.head.sequence),
  };
  return both.first > both.last ? null : both;
}

/** Evidence that a walk and a span have the same entries. */
export type Agreement = 'digests' | 'content' | 'another run';

/** Finds how each span that overlaps the walk agrees with it, by index in `spans`; null if not known. */
export function findAgreements(walk: WalkResult, spans: readonly Span[]): Map<number, Agreement | null> {
  const compared = new Map([...spans.entries()].map(([index, span]) => [index, compare(walk, span)] as const));
  const found = new Map<number, Agreement | null>();
  for (const [index, span] of spans.entries()) {
    if (!isPlaced(span) || span.part) continue;
    const overlap = overlapOf(walk, span);
    if (overlap === null) continue;
    found.set(index, compared.get(index) ?? byAnother(span, overlap, index, spans, compared));
  }
  return found;
}

/** Compares a walk with a span that ends in it, by digests or by content. */
function compare(walk: WalkResult, span: Span): Agreement | null {
  if (!isPlaced(span)) return null;
  const { first_sequence: first, head, digests_bind, entries_sha256 } = span.entries;
  const last = head.sequence;
  const ours = sectionOf(walk);
  if (ours === null || last > ours.last || last < ours.first || walk.findings.errors('order') > 0) return null;
  if (digests_bind && walk.bound && digestAt(walk, last) === head.hash) return 'digests';
  const content = entries_sha256 === null ? null : (walk.contents.get(`${first}-${last}`) ?? null);
  return content !== null && content === entries_sha256 ? 'content' : null;
}

/**
 * Looks for another run that stands for this one. If the later of two runs was proved to agree with all runs before
 * it, both have the same entries, so a run that was compared here stands for the other as far as it reaches.
 */
function byAnother(
  span: Placed,
  overlap: Section,
  index: number,
  spans: readonly Span[],
  compared: ReadonlyMap<number, Agreement | null>,
): Agreement | null {
  for (const [other, { entries, run_id }] of spans.entries()) {
    const how = compared.get(other) ?? null;
    if (how === null || entries === null) continue;
    if (entries.first_sequence > overlap.first || entries.head.sequence < overlap.last) continue;
    if (run_id === span.run_id) return how;
    const place = spans.findIndex((one) => one.run_id === run_id && !one.part);
    const later = place > index ? spans[place]?.entries : span.entries;
    if (later?.agrees === true) return 'another run';
  }
  return null;
}

/** Returns the digest of an entry as the package states it; undefined if it states none. */
export function digestAt({ first, head, watched }: WalkResult, sequence: number): string | undefined {
  if (head?.sequence === sequence) return head.digest;
  return first !== null && sequence === first.sequence - 1 ? first.previous : watched.get(sequence)?.stated;
}
