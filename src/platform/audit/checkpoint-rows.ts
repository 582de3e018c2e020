import { batches } from '../database/batches.ts';
import type { Reader } from '../database/database.ts';
import type { TimestampAuthority } from '../timestamp/exchange.ts';
import type { StreamName } from './entry-rows.ts';
import type { CheckpointRow, RowSeals } from './sealed-rows.ts';
import type { AuditTables } from './tables.ts';
import type { WireCheckpoint } from './wire.ts';

/** Number of rows read without yielding to other requests; a token may have 64 KiB. */
const PAGE_ROWS = 100;

/** Checkpoints of a stream that belong to a package. */
export interface PackedCheckpoints {
  stream_no: number;
  stream_id: string;
  first_sequence: number | null;
  last_sequence: number | null;
  /** Numbers of checkpoints and of anchored checkpoints when the package was generated. */
  checkpoints: number;
  anchored: number;
}

/** Yields the checkpoints of a stream in order, page by page, also those with numbers that the platform never gives. */
export function checkpointPages(reader: Reader, { stream_no }: StreamName): AsyncGenerator<CheckpointRow[]> {
  return batches(
    Number.MIN_SAFE_INTEGER,
    ({ number }) => number,
    (last) => checkpointsOf(reader, stream_no).where('number', '>', last).limit(PAGE_ROWS).execute(),
  );
}

/**
 * Yields the checkpoints of a package as they were when the package was generated. A checkpoint that was anchored later
 * stays pending in the package, so that the package's bytes never change.
 */
export async function* packedCheckpoints(
  reader: Reader,
  seals: RowSeals,
  packed: PackedCheckpoints,
): AsyncGenerator<WireCheckpoint> {
  const { stream_id, first_sequence, last_sequence, checkpoints, anchored } = packed;
  if (first_sequence === null || last_sequence === null) return;
  for await (const rows of checkpointPages(reader, packed))
    for (const row of rows) {
      if (row.number > checkpoints) return;
      if (row.number < 1 || row.sequence < first_sequence || row.sequence > last_sequence) continue;
      const wire = checkpointToWire(row, stream_id, seals);
      const isPending = wire.anchor.status !== 'failed' && (row.anchored_as === null || row.anchored_as > anchored);
      yield isPending ? { ...wire, anchor: { status: 'pending', authority: row.authority, ...UNSTAMPED } } : wire;
    }
}

export function checkpointsOf(reader: Reader, streamNo: number) {
  const checkpoints = reader.tables<AuditTables>().selectFrom('checkpoints').selectAll();
  return checkpoints.where('stream_no', '=', streamNo).orderBy('number');
}

const UNSTAMPED = { tsa_url: null, gen_time: null, token: null };

/** Converts a checkpoint to its wire form. A checkpoint that was changed outside the service has a failed anchor. */
export function checkpointToWire(row: CheckpointRow, streamId: string, seals: RowSeals): WireCheckpoint {
  const { checkpoint_id, sequence, hash, created_at, status, authority, tsa_url, gen_time } = row;
  const facts = { checkpoint_id, stream_id: streamId, sequence, hash, created_at };
  if (row.seal !== seals.checkpoint(row, streamId))
    return { ...facts, anchor: { status: 'failed', authority, ...UNSTAMPED } };
  const token = row.token === null ? null : Buffer.from(row.token).toString('base64');
  return { ...facts, anchor: { status, authority, tsa_url, gen_time, token } };
}

/** Returns the last checkpoint of each of the streams that has one. */
export async function lastCheckpoints(
  reader: Reader,
  seals: RowSeals,
  streamIds: readonly string[],
): Promise<Map<string, WireCheckpoint>> {
  const rows = await reader
    .tables<AuditTables>()
    .selectFrom('streams')
    .innerJoin('checkpoints', (join) =>
      join
        .onRef('checkpoints.stream_no', '=', 'streams.stream_no')
        .onRef('checkpoints.number', '=', 'streams.checkpoint_count'),
    )
    .selectAll('checkpoints')
    .select('stream_id')
    .where(reader.sql.isAmong('stream_id', streamIds))
    .execute();
  return new Map(rows.map(({ stream_id, ...row }) => [stream_id, checkpointToWire(row, stream_id, seals)]));
}

export type PendingCheckpoint = CheckpointRow & { stream_id: string };

/** Yields the checkpoints that are waiting for this kind of authority, oldest first, page by page. */
export function pendingCheckpoints(
  reader: Reader,
  authority: TimestampAuthority['kind'],
): AsyncGenerator<PendingCheckpoint[]> {
  const pending = reader
    .tables<AuditTables>()
    .selectFrom('checkpoints')
    .innerJoin('streams', 'streams.stream_no', 'checkpoints.stream_no')
    .selectAll('checkpoints')
    .select('stream_id')
    .where('status', '=', 'pending')
    .where('authority', '=', authority)
    .orderBy('ordinal')
    .limit(PAGE_ROWS);
  return batches(
    0,
    ({ ordinal }) => ordinal,
    (last) => pending.where('ordinal', '>', last).execute(),
  );
}

/** Yields the streams whose head has no checkpoint of this kind of authority, page by page. */
export function grownStreams(
  reader: Reader,
  authority: TimestampAuthority['kind'],
): AsyncGenerator<{ stream_id: string }[]> {
  const grown = reader
    .tables<AuditTables>()
    .selectFrom('streams')
    .select('stream_id')
    .where(({ not, exists, selectFrom }) => {
      const own = selectFrom('checkpoints')
        .select('number')
        .whereRef('checkpoints.stream_no', '=', 'streams.stream_no');
      const last = own.whereRef('number', '=', 'checkpoint_count').whereRef('sequence', '=', 'head_sequence');
      return not(exists(last.where('authority', '=', authority)));
    })
    .orderBy('stream_id')
    .limit(PAGE_ROWS);
  return batches(
    '',
    ({ stream_id }) => stream_id,
    (after) => grown.where('stream_id', '>', after).execute(),
  );
}
