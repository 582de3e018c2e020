import { FORMATS } from '../../core/formats.ts';
import { joinMaps, RowMap, RowMapBuilder } from '../../core/rows/map.ts';
import type { SpanEntries } from '../claims/schemas.ts';
import { spanOf } from '../claims/span.ts';
import { coverageOf } from '../records/coverage.ts';
import type { LedgerHead, RunRecord } from '../records/record.ts';
import { replaceHead } from './contradiction.ts';
import { type LedgerEntry, NO_PREDECESSOR, type StoredLedgerEntry, type Subject } from './ledger.ts';

/**
 * Returns the entry that records `subject` after `previous`, without its signature. The entry follows from the two
 * alone, byte for byte, so their holder can tell whether an entry in the archive was altered.
 */
// Over 40 lines: one branch for each kind of entry.
export function deriveEntry(subject: Subject, previous: StoredLedgerEntry | null): LedgerEntry {
  const heads = previous?.entry.heads ?? RowMap.of<LedgerHead>([]);
  const state = { audit_url: previous?.entry.audit_url ?? null, heads };
  const common = {
    format: FORMATS.ledgerEntry,
    number: (previous?.entry.number ?? 0) + 1,
    previous_sha256: previous?.sha256 ?? NO_PREDECESSOR,
  };
  if (subject.kind === 'run') {
    const spans = spansOf(subject.record);
    return {
      ...common,
      run_id: subject.record.run_id,
      run_sha256: subject.sha256,
      package_period: subject.record.package_period,
      coverage: coverageOf(subject.record),
      supersedes: subject.record.supersedes,
      spans,
      created_at: subject.record.finished_at,
      audit_url: serviceAfter(subject.record, previous),
      heads: advance(heads, spans, subject.record.run_id),
    };
  }
  if (subject.kind === 'hand-over') return { ...common, hands_over_to: subject.to, created_at: subject.at, ...state };
  if (subject.kind === 'abandonment') {
    const { run_id, reason, abandoned_by, abandoned_at } = subject.abandonment;
    return { ...common, abandons: run_id, reason, abandoned_by, created_at: abandoned_at, ...state };
  }
  const { stream_id, accepted_at, contradiction } = subject.record;
  const { seen } = contradiction;
  return {
    ...common,
    acceptance_key: subject.key,
    acceptance_sha256: subject.sha256,
    stream_id,
    seen,
    created_at: accepted_at,
    ...state,
    heads: replaceHead(heads, stream_id, seen),
  };
}

/** Returns the archive's service: that of its first run, unless a run states that it moved. */
function serviceAfter({ source }: RunRecord, previous: StoredLedgerEntry | null): string {
  return source.moved_from === null ? (previous?.entry.audit_url ?? source.audit_url) : source.audit_url;
}

function spansOf({ streams }: RunRecord): RowMap<SpanEntries | null> {
  return RowMap.of(pairsIn(streams));
}

function* pairsIn(streams: RunRecord['streams']): Generator<[streamId: string, span: SpanEntries | null]> {
  for (const stream of streams) {
    const span = spanOf(stream);
    if (span !== undefined) yield [stream.stream_id, span];
  }
}

/** Returns the heads after a run: heads with a later span advance, all others keep the last good head. */
function advance(heads: RowMap<LedgerHead>, spans: RowMap<SpanEntries | null>, runId: string): RowMap<LedgerHead> {
  const after = new RowMapBuilder<LedgerHead>();
  for (const [streamId, head, span] of joinMaps(heads, spans)) {
    const isFurther = span != null && span.head.sequence > (head?.sequence ?? -1);
    if (isFurther) after.add(streamId, { ...span.head, run_id: runId });
    else if (head !== undefined) after.add(streamId, head);
  }
  return after.finish();
}
