import type { Reader } from '../database/database.ts';
import type { RowSeals, SealedTotals } from './row-seals.ts';
import { type StreamRow, streamsQuery, streamToWire } from './streams.ts';
import { readTotals } from './totals.ts';

/** Streams that are read at once. */
const READ_AT_ONCE = 1000;
/** Failed checks that are told one by one. */
const MOST_TOLD = 50;

/** What the records of the last checks say, of those that hold: whoever has the database can change or remove them. */
export interface LastChecks {
  streams: number;
  /** Streams whose last check found nothing. */
  verified: number;
  /** Streams whose last check found something. */
  failed: number;
  /** The newest of them, that one first. */
  told: { stream_id: string; verification_id: string; checked_at: string }[];
  /** Streams without a record of a last check that holds. */
  unrecorded: number;
  /** Streams with entries after those that their last check reached. */
  grown: number;
  /** The newest of the last checks; null where there is none. */
  last_checked_at: string | null;
  /** As in the statistics: how many streams are gone, and whether the records fit what was counted when they were made. */
  missing_streams: number | null;
  checks_changed: boolean | null;
}

/** @param reader of one state: the count is held against the records. */
export async function readLastChecks(reader: Reader, seals: RowSeals): Promise<LastChecks> {
  const checks = { streams: 0, verified: 0, failed: 0, unrecorded: 0, grown: 0 };
  let told: (LastChecks['told'][number] & { verification_no: number })[] = [];
  let last_checked_at: string | null = null;
  for await (const row of everyStream(reader)) {
    const { stream_id, verification_status: status, last_checked_at: checked_at } = streamToWire(row, seals);
    checks.streams++;
    checks[status === 'unverified' ? 'unrecorded' : status]++;
    if (checked_at === null || row.verification_id === null || row.verification_no === null) continue;
    if (row.head_sequence > (row.to_sequence ?? 0)) checks.grown++;
    if (last_checked_at === null || checked_at > last_checked_at) last_checked_at = checked_at;
    if (status !== 'failed') continue;
    told.push({ stream_id, verification_id: row.verification_id, checked_at, verification_no: row.verification_no });
    if (told.length > 2 * MOST_TOLD) told = newestOf(told);
  }
  const kept = newestOf(told).map(({ verification_no: _, ...each }) => each);
  return { ...checks, told: kept, last_checked_at, ...compare(checks, await readTotals(reader, seals)) };
}

/** What is there, and what was counted. */
function compare(
  { streams, verified, failed }: SealedTotals,
  totals: SealedTotals | null,
): Pick<LastChecks, 'missing_streams' | 'checks_changed'> {
  if (totals === null) return { missing_streams: null, checks_changed: null };
  return {
    missing_streams: Math.max(0, totals.streams - streams),
    checks_changed: totals.verified !== verified || totals.failed !== failed,
  };
}

async function* everyStream(reader: Reader): AsyncGenerator<StreamRow> {
  let after = 0;
  for (;;) {
    const rows = await streamsQuery(reader)
      .where('streams.stream_no', '>', after)
      .orderBy('streams.stream_no')
      .limit(READ_AT_ONCE)
      .execute();
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined) return;
    after = end.stream_no;
  }
}

function newestOf<Check extends { verification_no: number }>(checks: readonly Check[]): Check[] {
  return checks.toSorted((one, other) => other.verification_no - one.verification_no).slice(0, MOST_TOLD);
}
