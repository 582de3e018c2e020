import type { CompletenessBasis, RecordedStatement } from '../claims/completeness.ts';
import type { Known } from '../claims/observe.ts';
import type { Verification } from './documents.ts';

/** The part of `data/verification.json` that says what was known of the stream besides its package. */
type KnownDocument = Pick<
  Verification,
  'vendor' | 'earlier' | 'package_period' | 'stated_head' | 'accepted_restart' | 'completeness'
>;

export function toKnownDocument({ vendor, earlier, period, statedHead, restart, completeness }: Known): KnownDocument {
  return {
    vendor,
    earlier: [...(earlier ?? [])],
    package_period: period,
    stated_head: statedHead,
    accepted_restart: restart,
    completeness:
      completeness.kind === 'none'
        ? completeness
        : { ...completeness, statement: toStatementDocument(completeness.statement) },
  };
}

export function knownOf(document: KnownDocument): Known {
  const { vendor, earlier, package_period, stated_head, accepted_restart, completeness } = document;
  return {
    vendor,
    earlier,
    period: package_period,
    statedHead: stated_head,
    restart: accepted_restart,
    completeness: basisOf(completeness),
  };
}

function basisOf(completeness: KnownDocument['completeness']): CompletenessBasis {
  return completeness.kind === 'none'
    ? completeness
    : { ...completeness, statement: statementOf(completeness.statement) };
}

type StatementDocument = Exclude<KnownDocument['completeness'], { kind: 'none' }>['statement'];

function toStatementDocument({ entryCount, headSequence, headDigest, readAt }: RecordedStatement): StatementDocument {
  return { entry_count: entryCount, head_sequence: headSequence, head_digest: headDigest, read_at: readAt };
}

function statementOf({ entry_count, head_sequence, head_digest, read_at }: StatementDocument): RecordedStatement {
  return { entryCount: entry_count, headSequence: head_sequence, headDigest: head_digest, readAt: read_at };
}
