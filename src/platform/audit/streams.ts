import type { WireStream } from '../../core/wire.ts';
import type { Reader } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { AuditTables } from './schema.ts';

/** A stream as it stands, with its last check. */
export type StreamRow = Awaited<ReturnType<ReturnType<typeof streamsQuery>['executeTakeFirstOrThrow']>>;

export function streamsQuery(reader: Reader) {
  return reader
    .tables<AuditTables>()
    .selectFrom('streams')
    .leftJoin('verifications', 'verifications.verification_no', 'streams.verification_no')
    .select([
      'streams.stream_no',
      'stream_id',
      'entry_count',
      'head_sequence',
      'streams.head_hash',
      'created_at',
      'last_entry_at',
      'verified',
      'checked_at',
      'sound_through',
    ]);
}

/** @throws DomainError `not_found`. */
export async function findStream(reader: Reader, streamId: string): Promise<StreamRow> {
  const query = streamsQuery(reader).where('stream_id', '=', streamId);
  const row = await query.executeTakeFirst();
  if (row === undefined) throw new DomainError('not_found', 'there is no stream of this id');
  return row;
}

export function streamToWire(row: StreamRow): WireStream {
  const { stream_no: _, verified, checked_at, sound_through, ...stream } = row;
  return {
    ...stream,
    verified: verified === 1,
    verification_status: verified === null ? 'unverified' : verified === 1 ? 'verified' : 'failed',
    last_checked_at: checked_at,
    verified_through_sequence: sound_through,
  };
}
