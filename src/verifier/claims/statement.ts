import { plural } from '../../core/plurals.ts';
import type { WalkResult } from '../chain/walk.ts';
import { LATENESS } from './grown.ts';
import { digestAt } from './overlap.ts';
import type { Span } from './schemas.ts';
import { boundOf } from './span.ts';

/** A stream as the service's list of streams states it, before its package was made; null for what it does not. */
export interface StreamStatement {
  entryCount: number | null;
  headSequence: number | null;
  headDigest: string | null;
}

/** A statement as a bundle records it. */
export interface RecordedStatement extends StreamStatement {
  /** When the export that read it had begun, by its own clock; RFC 3339. */
  readAt: string;
}

export interface StatementQuestion {
  walk: WalkResult;
  /** The period that the package was asked for. */
  period: Span['period'];
  /** The statement of the service's list of streams, read before the package was made. */
  statement: StreamStatement;
  /** The number of a stream's first entry. */
  firstSequence: number;
}

/** A contradiction in words, and the two values that contradict each other. */
export interface Contradiction {
  message: string;
  expected: string;
  actual: string;
}

/**
 * Returns how the record of a stream in the list of streams contradicts itself or the package; null where it does not.
 * Entries that came between the two requests contradict nothing: those of a period that had ended came before.
 */
export function contradictionIn(question: StatementQuestion): Contradiction | null {
  return whyImpossible(question) ?? whyOtherDigest(question) ?? whyTooFew(question) ?? whyBelow(question);
}

/** Numbers have no gaps, so there are never more entries than numbers. */
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
  // Without a number it is not known which entries came after the record was read.
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

/** The package goes on after the stated head, with an entry that was there before the list was read. */
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

/** True if a moment is so long before the end of the period that an entry of it was recorded by then. */
function isBefore(time: number, { to }: Span['period']): boolean {
  return time < boundOf(to, Number.NaN) - LATENESS;
}
