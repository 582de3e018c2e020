import { plural } from '../../core/plurals.ts';
import type { WalkResult } from '../chain/walk.ts';
import { LATENESS } from './grown.ts';
import { digestAt } from './overlap.ts';
import type { Span } from './schemas.ts';
import { boundOf } from './span.ts';

/** Statement of the service's list of streams, read before the package was made; null if not stated. */
export interface StreamStatement {
  entryCount: number | null;
  headSequence: number | null;
  headDigest: string | null;
}

/** Statement as a bundle records it. */
export interface RecordedStatement extends StreamStatement {
  /** Start of the export that read it, by its own clock; RFC 3339. */
  readAt: string;
}

export interface StatementQuestion {
  walk: WalkResult;
  /** Period for which the package was requested. */
  period: Span['period'];
  /** Statement of the service's list of streams, read before the package was made. */
  statement: StreamStatement;
  /** Number of a stream's first entry. */
  firstSequence: number;
}

/** Contradiction in words, and the two contradicting values. */
export interface Contradiction {
  message: string;
  expected: string;
  actual: string;
}

/**
 * Returns how a stream's record in the list of streams contradicts itself or the package; null if it does not. Entries
 * recorded between the two requests contradict nothing; those of a period that had ended were recorded before.
 */
export function contradictionIn(question: StatementQuestion): Contradiction | null {
  return whyImpossible(question) ?? whyOtherDigest(question) ?? whyTooFew(question) ?? whyBelow(question);
}

/** Checks the count: numbers have no gaps, so there are never more entries than numbers. */
function whyImpossible({ statement: { entryCount, headSequence }, firstSequence }: StatementQuestion) {
  if (entryCount === null || headSequence === null || entryCount <= headSequence - firstSequence + 1) return null;
  return {
    message: `the list of streams states ${plural(entryCount, 'entry')} and entry ${headSequence} as the newest, and the first has the number ${firstSequence}`,
    expected: String(entryCount),
    actual: String(headSequence - firstSequence + 1),
  };
}

function whyOtherDigest({ walk, statement: { headSequence, headDigest }, firstSequence }: StatementQuestion) {
  if (headSequence === null || headDigest === null || headSequence < firstSequence) return null;
  const seen = digestAt(walk, headSequence);
  if (seen === undefined || seen === headDigest) return null;
  return {
    message: `the list of streams states another digest of entry ${headSequence}`,
    expected: headDigest,
    actual: seen,
  };
}

function whyTooFew({ walk, period, statement: { entryCount, headSequence } }: StatementQuestion) {
  if (entryCount === null || walk.head === null) return null;
  // If the record states no head, entries that came after it was read cannot be told apart.
  if (headSequence === null && !isBefore(walk.times.last, period)) return null;
  const later = headSequence === null ? 0 : Math.max(0, walk.head.sequence - headSequence);
  const count = Math.max(0, walk.entries - later);
  if (count <= entryCount) return null;
  const up = headSequence === null ? '' : ` up to entry ${headSequence}`;
  return {
    message: `the list of streams states ${plural(entryCount, 'entry')}${up}, and the package alone has ${count} of them`,
    expected: String(entryCount),
    actual: String(count),
  };
}

/** Finds an entry after the stated head that existed before the list was read. */
function whyBelow({ walk, period, statement: { headSequence } }: StatementQuestion) {
  const { first, head, times, watched } = walk;
  if (headSequence === null || first === null || head === null || head.sequence <= headSequence) return null;
  const isWithin = headSequence + 1 > first.sequence;
  const next = isWithin ? Date.parse(watched.get(headSequence + 1)?.timestamp ?? '') : times.first;
  if (!isBefore(next, period)) return null;
  const place = isWithin ? headSequence + 1 : first.sequence;
  return {
    message: `the list of streams states entry ${headSequence} as the newest, and the package has entry ${place}, recorded on ${new Date(next).toISOString()}, before its period ended`,
    expected: String(headSequence),
    actual: String(head.sequence),
  };
}

/** Reports whether a time is so long before the end of the period that an entry of it was recorded by the end. */
function isBefore(time: number, { to }: Span['period']): boolean {
  return time < boundOf(to, Number.NaN) - LATENESS;
}
