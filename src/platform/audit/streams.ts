import type { Reader } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError, there } from '../errors.ts';
import { type EntryRow, entryAt } from './repository.ts';
import type { RowSeals } from './sealed-rows.ts';
import type { AuditTables } from './tables.ts';
import type { WireStream } from './wire.ts';

/** Stream with its current state and last check. */
export type StreamRow = Awaited<ReturnType<ReturnType<typeof streamsQuery>['executeTakeFirstOrThrow']>>;

export function streamsQuery(reader: Reader) {
  return reader
    .tables<AuditTables>()
    .selectFrom('streams')
    .leftJoin('verifications', 'verifications.verification_no', 'streams.verification_no')
    .selectAll('streams')
    .select([
      'verification_id',
      'number',
      'verified',
      'began_at',
      'checked_at',
      'entries_checked',
      'clock_corrections',
      'from_sequence',
      'to_sequence',
      'verifications.head_hash as checked_head_hash',
      'sound_through',
      'failures_sha256',
      'seal as verification_seal',
    ]);
}

/** @throws DomainError `not_found`. */
export async function findStream(reader: Reader, streamId: string): Promise<StreamRow> {
  const query = streamsQuery(reader).where('stream_id', '=', streamId);
  return there(await query.executeTakeFirst(), 'no stream has this ID');
}

/** @throws DomainError `not_found`. */
export async function recordedEntry(reader: Reader, streamId: string, sequence: number): Promise<EntryRow> {
  const row = await entryAt(reader, streamId, sequence);
  if (row === undefined) throw new DomainError('not_found', `the stream has no entry ${sequence}, or does not exist`);
  return row;
}

/**
 * Converts a stream to its wire form. A check that the service did not write is ignored, so the stream is shown as
 * unchecked.
 */
export function streamToWire(row: StreamRow, seals: RowSeals): WireStream {
  const check = lastCheckOf(row, seals);
  return {
    ...pick(row, ['stream_id', 'entry_count', 'head_sequence', 'head_hash', 'created_at', 'last_entry_at']),
    verified: check?.verified === 1,
    verification_status: check === null ? 'unverified' : check.verified === 1 ? 'verified' : 'failed',
    last_checked_at: check?.checked_at ?? null,
    verified_through_sequence: check?.sound_through ?? null,
  };
}

function lastCheckOf(row: StreamRow, seals: RowSeals) {
  const { verification_id, number, verified, began_at, checked_at, entries_checked, failures_sha256 } = row;
  if (verification_id === null || number === null || verified === null || began_at === null) return null;
  if (checked_at === null || entries_checked === null || failures_sha256 === null) return null;
  const { from_sequence, to_sequence, sound_through, checked_head_hash: head_hash, clock_corrections } = row;
  if (clock_corrections === null) return null;
  const ends = { from_sequence, to_sequence, sound_through, head_hash };
  const found = { verified, entries_checked, clock_corrections, failures_sha256, ...ends };
  const check = { verification_id, number, began_at, checked_at, ...found };
  return seals.verification(check, row.stream_id) === row.verification_seal ? check : null;
}
