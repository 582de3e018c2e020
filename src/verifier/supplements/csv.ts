import { BYTE_ORDER_MARK, type CsvValue, csvLine } from '../../core/csv.ts';
import { canonicalize, type Json } from '../../core/json/canonical.ts';
import { valueAt } from '../profile/path.ts';
import type { RecordsDescription } from '../profile/supplements.ts';
import type { RecordState } from './document.ts';

/** Columns after those of the contract: the state of a record, and the entry that it names. */
const OWN_COLUMNS = ['proof', 'proof_reason', 'as_reported', 'entry_stream_id', 'entry_sequence', 'entry_hash'];

/** Returns the first line of the table of a kind, with its byte order mark. */
export function csvHeader({ csv }: RecordsDescription): string {
  return BYTE_ORDER_MARK + csvLine([...csv, ...OWN_COLUMNS]);
}

/** Returns the line of a record. @param record as received. */
export function csvRow(
  { csv }: RecordsDescription,
  record: Json,
  { state, reason, as_reported, entry }: RecordState,
): string {
  const columns = csv.map((path) => toCell(valueAt(record, path)));
  return csvLine([...columns, state, reason, as_reported?.join(' '), entry?.stream_id, entry?.sequence, entry?.hash]);
}

function toCell(value: Json | undefined): CsvValue {
  return typeof value === 'object' && value !== null ? canonicalize(value) : value;
}
