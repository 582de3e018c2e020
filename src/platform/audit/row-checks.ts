import { hash } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Reader } from '../database/database.ts';
import type { StatedStamp } from '../timestamp/reading.ts';
import { checkpointPages } from './checkpoint-rows.ts';
import type { Faults } from './faults.ts';
import type { StreamName } from './pages.ts';
import type { CheckpointRow, RowSeals, SealedHead } from './row-seals.ts';
import type { AuditTables } from './schema.ts';

/** Checks read without giving way to other requests. */
const PAGE_ROWS = 50;

export interface RowChecks {
  reader: Reader;
  seals: RowSeals;
  stream: StreamName;
  head: SealedHead;
  faults: Faults;
  signal: AbortSignal;
}

/** That there is every checkpoint and every anchor that the head counts, each as this service wrote it. */
export async function checkCheckpoints({ reader, seals, stream, head, faults, signal }: RowChecks): Promise<void> {
  const { checkpoints, anchored, sequence } = head;
  let due = 1;
  let anchors = 0;
  const miss = (until: number, at: number) => {
    const missing = until - 1 === due ? `${due}` : `${due}-${until - 1}`;
    if (due < until) faults.fail('checkpoint_missing', at, missing, null);
  };
  for await (const rows of checkpointPages(reader, stream)) {
    for (const row of rows.filter(({ number }) => number <= checkpoints)) {
      miss(row.number, row.sequence);
      due = row.number + 1;
      if (row.anchored_as !== null && row.anchored_as <= anchored) anchors++;
      faults.compareSeal('checkpoint_seal_mismatch', row.sequence, seals.checkpoint(row, stream.stream_id), row.seal);
      if (row.token !== null) await checkToken(row, row.token, faults);
      signal.throwIfAborted();
    }
  }
  miss(checkpoints + 1, sequence);
  if (anchors !== anchored) faults.fail('anchor_missing', sequence, `${anchored}`, `${anchors}`);
}

/** That a token is about what its row says, and by the kind of authority that it says. */
async function checkToken(row: CheckpointRow, token: Uint8Array, faults: Faults): Promise<void> {
  // Loaded for those who have checkpoints: it takes a fifth of a second.
  const { readStamp } = await import('../timestamp/reading.ts');
  faults.compare('checkpoint_token_mismatch', row.sequence, told(row), stated(await readStamp(token)));
}

function told({ hash, gen_time, authority }: CheckpointRow): string {
  return `${hash} ${gen_time} ${authority}`;
}

function stated(stamp: StatedStamp | null): string | null {
  if (stamp === null) return null;
  const { imprint, genTime, isDevelopment } = stamp;
  return `${imprint} ${genTime.toISOString()} ${isDevelopment ? 'development' : 'external'}`;
}

/** That the checks on record are as this service wrote them. */
export async function checkVerifications({ reader, seals, stream, head, faults, signal }: RowChecks): Promise<void> {
  let last = 0;
  for (;;) {
    const rows = await reader
      .tables<AuditTables>()
      .selectFrom('verifications')
      .selectAll()
      .where('stream_no', '=', stream.stream_no)
      .where('verification_no', '>', last)
      .orderBy('verification_no')
      .limit(PAGE_ROWS)
      .execute();
    for (const row of rows) {
      const isWhole = row.failures_sha256 === hash('sha256', row.failures, 'hex');
      if (!isWhole || row.seal !== seals.verification(row, stream.stream_id))
        faults.fail('verification_seal_mismatch', head.sequence, null, row.verification_id);
    }
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end.verification_no;
    await nextTick();
    signal.throwIfAborted();
  }
}
