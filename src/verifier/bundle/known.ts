import type { CompletenessBasis } from '../claims/completeness.ts';
import type { ListingResult } from '../claims/listing.ts';
import type { Known } from '../claims/observe.ts';
import type { Collected, ServiceStatement, StreamStatementDocument } from '../claims/schemas.ts';
import type { RecordedStatement, StreamStatement } from '../claims/statement.ts';
import type { TransferLog, Verification } from './documents.ts';

/** Part of `data/verification.json` with the knowledge of the stream apart from its package. */
type KnownDocument = Pick<
  Verification,
  | 'vendor'
  | 'earlier'
  | 'package_period'
  | 'statement'
  | 'unfetched'
  | 'package_entries'
  | 'accepted_restarts'
  | 'completeness'
  | 'secrets'
>;

export function toKnownDocument(known: Known): KnownDocument {
  const { vendor, earlier, period, statement, unfetched, statedCount, secrets, restarts, completeness } = known;
  const { kind } = completeness;
  return {
    vendor,
    earlier: [...(earlier ?? [])],
    package_period: period,
    statement: { ...toStatementDocument(statement), read_at: statement.readAt },
    unfetched,
    package_entries: statedCount,
    secrets,
    accepted_restarts: [...restarts],
    completeness: kind === 'listing' ? { kind } : completeness,
  };
}

/** @param listing comparison with the bundle's listing; null if there is none to compare. */
export function knownOf(document: KnownDocument, listing: ListingResult | null): Known {
  const { vendor, earlier, package_period, unfetched, package_entries, secrets, accepted_restarts } = document;
  return {
    vendor,
    earlier,
    period: package_period,
    statement: statementOf(document),
    unfetched,
    statedCount: package_entries,
    secrets,
    restarts: accepted_restarts,
    completeness: basisOf(document, listing),
  };
}

function statementOf({ statement: { entries, head, read_at } }: Pick<KnownDocument, 'statement'>): RecordedStatement {
  return { entryCount: entries, headSequence: head.sequence, headDigest: head.hash, readAt: read_at };
}

function basisOf({ completeness }: KnownDocument, listing: ListingResult | null): CompletenessBasis {
  if (completeness.kind !== 'listing') return completeness;
  if (listing === null)
    return {
      kind: 'none',
      code: 'no-listing',
      reason: 'the listing that the bundle should hold could not be compared',
    };
  return { kind: 'listing', ...listing };
}

/** Returns a stream's statement in the service's list of streams, as written into documents. */
export function toStatementDocument(stated: StreamStatement): StreamStatementDocument {
  return { entries: stated.entryCount, head: { sequence: stated.headSequence, hash: stated.headDigest } };
}

/** Maximum number of failed entries kept, because a service may report every entry. */
const MAX_FAILED = 100;

export function collectedIn(log: Pick<TransferLog, 'export_started_at' | 'received_at' | 'steps'>): Collected {
  const { export_started_at, received_at, steps } = log;
  const requests = steps.flatMap(({ exchange }) => (exchange === undefined ? [] : [exchange.requested_at]));
  return { export_started_at, requested_at: requests.sort()[0] ?? export_started_at, received_at };
}

/** @param stated by the service's list of streams. */
export function serviceStatementOf(
  { completeness, vendor }: Pick<Known, 'completeness' | 'vendor'>,
  { entries, head }: StreamStatementDocument,
): ServiceStatement {
  return {
    entries,
    head,
    listed: completeness.kind === 'listing' ? completeness.listed : null,
    verified: vendor?.verified ?? null,
    failed_sequences: vendor?.failed_sequences.slice(0, MAX_FAILED) ?? [],
  };
}
