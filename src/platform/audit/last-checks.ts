import { sql } from 'kysely';
import type { Reader } from '../database/database.ts';
import type { RowSeals } from './row-seals.ts';
import { type StreamRow, streamsQuery, streamToWire } from './streams.ts';
import { readTotals } from './totals.ts';

/** Checks that are told one by one. */
const MOST_TOLD = 50;

/**
 * The findings of the last checks of all streams. Whoever has the database can change or remove their records, so the
 * database only counts them: what it counts is compared with the sealed totals, where each check is counted when it is
 * recorded.
 */
export interface LastChecks {
  streams: number;
  entries: number;
  /** Streams whose last check found nothing. */
  verified: number;
  /** Streams whose last check found something. */
  failed: number;
  /** The newest of them, that one first. */
  told: { stream_id: string; verification_id: string; checked_at: string }[];
  /** Streams without a record of a last check, or with one too many. */
  unrecorded: number;
  /** Streams with entries after those that their last check reached. */
  grown: number;
  /** The newest of the last checks; null where there is none. */
  last_checked_at: string | null;
  /** As in the statistics: how many streams are gone, and whether the records fit what was counted when they were made. */
  missing_streams: number | null;
  checks_changed: boolean | null;
}

/** @param reader of one state: the count is compared with the records. */
export async function readLastChecks(reader: Reader, seals: RowSeals): Promise<LastChecks> {
  const { streams, entries, grown, reached, ...counted } = await countRecords(reader);
  const totals = await readTotals(reader, seals);
  const newest = soundOf(await newestChecks(reader).execute(), seals);
  const failures = soundOf(await newestFailures(reader).execute(), seals);
  const verified = Math.min(counted.verified, totals?.verified ?? counted.verified);
  const failed = Math.min(counted.failed, totals?.failed ?? counted.failed);
  const fits = totals?.verified === counted.verified && totals.failed === counted.failed && totals.reached === reached;
  return {
    streams,
    entries,
    verified,
    failed,
    told: failures.checks,
    grown,
    unrecorded: streams - verified - failed,
    last_checked_at: newest.checks[0]?.checked_at ?? null,
    missing_streams: totals === null ? null : Math.max(0, totals.streams - streams),
    checks_changed: totals === null ? null : !(fits && newest.areAll && failures.areAll),
  };
}

/** The record of each stream that is shown as its last check. */
interface Counted {
  streams: number;
  entries: number;
  verified: number;
  failed: number;
  grown: number;
  reached: number;
}

async function countRecords(reader: Reader): Promise<Counted> {
  const { rows } = await sql<Counted>`
    SELECT count(*) AS streams,
      CAST(coalesce(sum(s.entry_count), 0) AS bigint) AS entries,
      count(CASE WHEN v.verified = 1 THEN 1 END) AS verified,
      count(CASE WHEN v.verified = 0 THEN 1 END) AS failed,
      count(CASE WHEN v.verified IS NOT NULL AND s.head_sequence > coalesce(v.to_sequence, 0) THEN 1 END) AS grown,
      CAST(coalesce(sum(v.to_sequence), 0) AS bigint) AS reached
    FROM streams s LEFT JOIN verifications v ON v.verification_no = s.verification_no AND v.stream_no = s.stream_no
  `.execute(reader.tables());
  const [counted] = rows;
  if (counted === undefined) throw new Error('a count returned no row');
  return counted;
}

function newestChecks(reader: Reader) {
  return streamsQuery(reader)
    .where('streams.verification_no', 'is not', null)
    .orderBy('streams.verification_no', 'desc')
    .limit(MOST_TOLD);
}

/** By the index of the checks that failed: most streams have none. */
function newestFailures(reader: Reader) {
  return streamsQuery(reader)
    .whereRef('verifications.stream_no', '=', 'streams.stream_no')
    .where('verified', '=', 0)
    .orderBy('verifications.verification_no', 'desc')
    .limit(MOST_TOLD);
}

/** Those that nobody changed, and whether that is all of them. */
function soundOf(rows: readonly StreamRow[], seals: RowSeals) {
  const checks = rows.flatMap((row) => {
    const { stream_id, last_checked_at: checked_at } = streamToWire(row, seals);
    const { verification_id } = row;
    return checked_at === null || verification_id === null ? [] : [{ stream_id, verification_id, checked_at }];
  });
  return { checks, areAll: checks.length === rows.length };
}
