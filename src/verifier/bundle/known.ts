import type { CompletenessBasis, RecordedStatement } from '../claims/completeness.ts';
import type { ListingResult } from '../claims/listing.ts';
import type { Known } from '../claims/observe.ts';
import type { Verification } from './documents.ts';

/** The part of `data/verification.json` that says what was known of the stream besides its package. */
type KnownDocument = Pick<
  Verification,
  'vendor' | 'earlier' | 'package_period' | 'stated_head' | 'stated_count' | 'accepted_restart' | 'completeness'
>;

export function toKnownDocument(known: Known): KnownDocument {
  const { vendor, earlier, period, statedHead, statedCount, restart, completeness } = known;
  return {
    vendor,
    earlier: [...(earlier ?? [])],
    package_period: period,
    stated_head: statedHead,
    stated_count: statedCount,
    accepted_restart: restart,
    completeness:
      completeness.kind === 'none'
        ? completeness
        : completeness.kind === 'listing'
          ? { kind: 'listing', statement: toStatementDocument(completeness.statement) }
          : { ...completeness, statement: toStatementDocument(completeness.statement) },
  };
}

/** @param listing what came of comparing the listing in the bundle anew; null where there is none to compare. */
export function knownOf(document: KnownDocument, listing: ListingResult | null): Known {
  const { vendor, earlier, package_period, stated_head, stated_count, accepted_restart, completeness } = document;
  return {
    vendor,
    earlier,
    period: package_period,
    statedHead: stated_head,
    statedCount: stated_count,
    restart: accepted_restart,
    completeness: basisOf(completeness, listing),
  };
}

function basisOf(completeness: KnownDocument['completeness'], listing: ListingResult | null): CompletenessBasis {
  if (completeness.kind === 'none') return completeness;
  const statement = statementOf(completeness.statement);
  if (completeness.kind === 'record') return { ...completeness, statement };
  if (listing === null) return { kind: 'none', why: 'the listing that the bundle should hold could not be compared' };
  return { kind: 'listing', statement, ...listing };
}

type StatementDocument = Exclude<KnownDocument['completeness'], { kind: 'none' }>['statement'];

function toStatementDocument({ entryCount, headSequence, headDigest, readAt }: RecordedStatement): StatementDocument {
  return { entry_count: entryCount, head_sequence: headSequence, head_digest: headDigest, read_at: readAt };
}

function statementOf({ entry_count, head_sequence, head_digest, read_at }: StatementDocument): RecordedStatement {
  return { entryCount: entry_count, headSequence: head_sequence, headDigest: head_digest, readAt: read_at };
}
