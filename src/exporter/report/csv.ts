import { BYTE_ORDER_MARK, type CsvValue, csvLine } from '../../core/csv.ts';
import { CLAIMS } from '../../verifier/claims/claim.ts';
import { lengthOf } from '../../verifier/claims/ranges.ts';
import type { Reconciliation, RunRecord, RunStream } from '../../verifier/records/record.ts';
import { anchoredIn } from './view/anchors.ts';
import { countUnfetched, missingIn, statedEntries } from './view/missing.ts';
import { sayExclusion } from './view/sentences.ts';

/** Class of a stream in the reconciliation. Streams that are `vanished` or `ended` are not listed and not counted. */
type Class = Exclude<keyof Reconciliation, 'listed'> | 'vanished' | 'ended';

const COLUMNS = [
  'run_id',
  'period_from',
  'period_to',
  'period_field',
  'class',
  'stream_id',
  'stream_id_json',
  'status',
  'entries',
  'stated_entries',
  'listed_entries',
  'missing_entries',
  'late_entries',
  'first_sequence',
  'first_recorded_at',
  'first_occurred_at',
  'head_sequence',
  'last_recorded_at',
  'last_occurred_at',
  'head_hash',
  ...CLAIMS,
  'anchored_through',
  'entries_after_last_anchor',
  'anchored_from',
  'anchored_to',
  'authorities',
  'service_verified',
  'findings_count',
  'requested_at',
  'received_at',
  'package_id',
  'bundle_key',
  'bundle_bytes',
  'bundle_sha256',
  'bundle_identity',
  'reason',
] as const;
type Row = Partial<Record<(typeof COLUMNS)[number], CsvValue>>;

/**
 * Renders `index.csv`: one row for each listed stream, whatever its outcome, and one for each missing stream. RFC 4180,
 * UTF-8 with a byte order mark. Yields one line at a time.
 */
export function* renderIndex(record: RunRecord): Generator<string> {
  yield BYTE_ORDER_MARK + csvLine(COLUMNS);
  const { run_id, period, source } = record;
  const common: Row = {
    run_id,
    period_from: period.from,
    period_to: period.to,
    period_field: source.time_fields.recorded,
  };
  for (const row of rowsOf(record)) yield csvLine(COLUMNS.map((name) => ({ ...row, ...common })[name]));
}

function* rowsOf(record: RunRecord): Generator<Row> {
  const { streams, failed, excluded, vanished, ended, period } = record;
  const stated = statedEntries(record);
  for (const stream of streams) yield toRow(stream, period);
  for (const { stream_id, reason } of failed)
    yield rowOf('failed', stream_id, { reason, stated_entries: stated.get(stream_id) });
  for (const { stream_id, pattern } of excluded)
    yield rowOf('excluded', stream_id, { reason: sayExclusion(pattern), stated_entries: stated.get(stream_id) });
  for (const { stream_id, finding, entries } of vanished)
    yield rowOf('vanished', stream_id, { reason: finding.message, missing_entries: entries });
  for (const { stream_id, finding, entries } of ended)
    yield rowOf('ended', stream_id, { reason: finding.message, missing_entries: entries });
}

function toRow(stream: RunStream, period: RunRecord['period']): Row {
  const { claims, bundle, missing, service, collected } = stream;
  const anchored = anchoredIn(stream);
  return rowOf(classOf(stream), stream.stream_id, {
    reason: missing.map(({ form, reason }) => `${form}: ${reason}`).join('; '),
    status: stream.status,
    entries: stream.entries,
    stated_entries: service.entries,
    listed_entries: service.listed,
    missing_entries: lengthOf(missingIn(stream, period)),
    late_entries: countUnfetched(stream),
    first_sequence: stream.first_sequence,
    first_recorded_at: stream.first_recorded_at,
    first_occurred_at: stream.first_occurred_at,
    head_sequence: stream.head?.sequence,
    last_recorded_at: stream.last_recorded_at,
    last_occurred_at: stream.last_occurred_at,
    head_hash: stream.head?.hash,
    ...Object.fromEntries(CLAIMS.map((name) => [name, claims[name].state])),
    anchored_through: anchored?.through ?? null,
    entries_after_last_anchor: anchored?.after ?? null,
    anchored_from: anchored?.from ?? null,
    anchored_to: anchored?.to ?? null,
    authorities: anchored?.by.join('; ') ?? null,
    service_verified: service.verified,
    findings_count: stream.findings_count,
    requested_at: collected.requested_at,
    received_at: collected.received_at,
    package_id: stream.package_id,
    bundle_key: bundle.key,
    bundle_bytes: bundle.bytes,
    bundle_sha256: bundle.sha256,
    bundle_identity: bundle.identity,
  });
}

function classOf({ partial, status }: RunStream): Class {
  if (partial || status === 'incomplete') return 'partial';
  return status === 'empty' ? 'empty' : 'exported';
}

/** Adds the id as JSON, because the plain column neutralizes ids that a spreadsheet would run as formulas. */
function rowOf(name: Class, stream_id: string, more: Row): Row {
  return { class: name, stream_id, stream_id_json: JSON.stringify(stream_id), ...more };
}
