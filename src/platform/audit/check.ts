import { batches } from '../database/batches.ts';
import type { Reader } from '../database/database.ts';
import type { CheckPlace, RowFinding } from '../open-module.ts';
import { headsFit } from './head-sum-rows.ts';
import { checkIndex } from './index-check.ts';
import { inspectStream } from './inspection.ts';
import { RowSeals } from './sealed-rows.ts';
import { likenessOf } from './similar-rows.ts';
import { readStats } from './stats.ts';
import type { AuditTables } from './tables.ts';
import { changedHours } from './totals.ts';

/** Number of streams listed at once. */
const PAGE = 500;

/** Checks every stream like Verify, without recording it, and then what is stated about all of them. */
export async function* checkAudit({ database, sealKeys: keys, clock, signal }: CheckPlace): AsyncGenerator<RowFinding> {
  const seals = new RowSeals(keys.ofRows());
  // Reported once, below, instead of once per stream.
  const heads = { fit: async () => true };
  for await (const streams of streamPages(database))
    for (const { stream_id, likeness } of streams) {
      if (likeness !== likenessOf(stream_id))
        yield { code: 'likeness_mismatch', of: `stream ${JSON.stringify(stream_id)}` };
      const { found } = await inspectStream(database, { keys, seals, heads }, stream_id, signal);
      for (const { code, sequence, expected, actual } of found.failures)
        yield { code, of: `stream ${JSON.stringify(stream_id)}, entry ${sequence}`, expected, actual };
    }
  if (!(await database.snapshot((reader) => headsFit(reader, seals))))
    yield { code: 'heads_mismatch', of: 'the heads of all streams' };
  for (const { hour, streams, total } of await changedHours(database))
    yield { code: 'hour_mismatch', of: `the total of ${hour}`, expected: `${streams}`, actual: `${total}` };
  yield* checkIndex(database, signal);
  const { missing_streams, checks_changed } = await database.snapshot((reader) => readStats(reader, seals, clock()));
  if (missing_streams === null) yield { code: 'totals_changed', of: 'the totals' };
  else if (missing_streams > 0) yield { code: 'streams_missing', of: 'the totals', actual: `${missing_streams}` };
  if (checks_changed === true) yield { code: 'checks_changed', of: 'the latest checks' };
}

function streamPages(reader: Reader): AsyncGenerator<{ stream_id: string; likeness: string }[]> {
  const streams = reader
    .tables<AuditTables>()
    .selectFrom('streams')
    .select(['stream_id', 'likeness'])
    .orderBy('stream_id');
  return batches(
    '',
    ({ stream_id }) => stream_id,
    (after) => streams.where('stream_id', '>', after).limit(PAGE).execute(),
  );
}
