import type { Reader } from '../database/database.ts';
import type { TimestampAuthority } from '../timestamp/types.ts';
import type { CheckpointRow } from './row-seals.ts';
import type { AuditTables } from './tables.ts';

const READ_AT_ONCE = 100;

export type PendingCheckpoint = CheckpointRow & { stream_id: string };

/** The checkpoints that this kind of authority is to anchor, oldest first. */
export async function* pendingCheckpoints(
  reader: Reader,
  authority: TimestampAuthority['kind'],
): AsyncGenerator<PendingCheckpoint> {
  let last = 0;
  for (;;) {
    const rows = await reader
      .tables<AuditTables>()
      .selectFrom('checkpoints')
      .innerJoin('streams', 'streams.stream_no', 'checkpoints.stream_no')
      .selectAll('checkpoints')
      .select('stream_id')
      .where('status', '=', 'pending')
      .where('authority', '=', authority)
      .where('ordinal', '>', last)
      .orderBy('ordinal')
      .limit(READ_AT_ONCE)
      .execute();
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end.ordinal;
  }
}

/** The streams whose head has no checkpoint of this kind of authority. */
export async function* grownStreams(reader: Reader, authority: TimestampAuthority['kind']): AsyncGenerator<string> {
  let after = '';
  for (;;) {
    const rows = await reader
      .tables<AuditTables>()
      .selectFrom('streams')
      .select('stream_id')
      .where('stream_id', '>', after)
      .where(({ not, exists, selectFrom }) => {
        const own = selectFrom('checkpoints')
          .select('number')
          .whereRef('checkpoints.stream_no', '=', 'streams.stream_no');
        const last = own.whereRef('number', '=', 'checkpoint_count').whereRef('sequence', '=', 'head_sequence');
        return not(exists(last.where('authority', '=', authority)));
      })
      .orderBy('stream_id')
      .limit(READ_AT_ONCE)
      .execute();
    for (const { stream_id } of rows) yield stream_id;
    const end = rows.at(-1);
    if (end === undefined) return;
    after = end.stream_id;
  }
}
