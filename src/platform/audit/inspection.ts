import type { ReadableDatabase } from '../database/database.ts';
import type { AppendDeps } from './append.ts';
import { EntryPages } from './entry-rows.ts';
import { sealedHeadOf } from './head-rows.ts';
import type { HeadsCheck } from './heads-check.ts';
import { checkCheckpoints, checkPackages, checkVerifications } from './row-checks.ts';
import { findStream } from './streams.ts';
import type { AuditTables } from './tables.ts';
import { Faults, Walk } from './walk.ts';
import type { WireVerification } from './wire.ts';

/** Result of a check. */
export interface StreamInspection {
  found: Omit<WireVerification, 'verification_id' | 'checked_at'>;
  stream_no: number;
  /** Last sequence number up to which nothing is wrong; null if there is none. */
  sound_through: number | null;
}

/**
 * Checks a stream from its first entry to its head without writing anything: recomputes every hash and seal, and checks
 * every link, the row that states the head, every checkpoint with its token, the recorded checks, the numbers of
 * entries by hour, and whether the heads of all streams fit their sum.
 *
 * An earlier copy of the whole database is consistent, so this check cannot detect a rollback of everything. Anchors and
 * exports stored elsewhere reveal it, because they contain later entries.
 * @throws DomainError `not_found` if the stream does not exist; the reason of `signal`.
 */
export async function inspectStream(
  database: ReadableDatabase,
  { keys, seals, heads }: Pick<AppendDeps, 'keys' | 'seals'> & { heads: Pick<HeadsCheck, 'fit'> },
  streamId: string,
  signal: AbortSignal,
): Promise<StreamInspection> {
  const { stream, last, ...stated } = await takeSnapshot(database, streamId);
  const head = sealedHeadOf(stream);
  const faults = new Faults();
  const walk = new Walk(keys, { head, ...stated }, faults);
  for await (const page of new EntryPages(database).toCheck(stream, 1, last)) {
    for (const entry of page) walk.step(entry);
    signal.throwIfAborted();
  }
  walk.finish();
  faults.compareSeal('head_seal_mismatch', head.sequence, seals.head(head), stream.head_seal);
  if (!(await heads.fit())) faults.fail('heads_mismatch', head.sequence, null, null);
  const checks = { reader: database, seals, stream, head, faults, signal };
  await checkCheckpoints(checks);
  await checkVerifications(checks);
  await checkPackages(checks);
  const failures = faults.told(walk.last ?? 0);
  const sound = Math.min(walk.last ?? 0, faults.first - 1);
  return {
    found: {
      stream_id: streamId,
      verified: failures.length === 0,
      entries_checked: walk.checked,
      from_sequence: walk.first,
      to_sequence: walk.last,
      head_hash: walk.head,
      clock_corrections: walk.corrections,
      failures,
    },
    stream_no: stream.stream_no,
    sound_through: sound > 0 ? sound : null,
  };
}

/** Reads the current statements of the stream; entries appended during the walk are not part of the check. */
function takeSnapshot(database: ReadableDatabase, streamId: string) {
  return database.snapshot(async (reader) => {
    const stream = await findStream(reader, streamId);
    const tables = reader.tables<AuditTables>();
    const { stream_no } = stream;
    const checkpoints = tables.selectFrom('checkpoints').select(['sequence', 'hash']).distinct();
    const anchors = await checkpoints.where('stream_no', '=', stream_no).orderBy('sequence').execute();
    const entries = tables.selectFrom('entries').select('sequence').where('stream_no', '=', stream_no);
    const end = await entries.orderBy('sequence', 'desc').limit(1).executeTakeFirst();
    const hours = tables.selectFrom('entry_hours').select(['hour', 'entries']).where('stream_no', '=', stream_no);
    const counted = new Map((await hours.execute()).map(({ hour, entries }) => [hour, entries]));
    return { stream, anchors, hours: counted, last: end?.sequence ?? 0 };
  });
}
