import { sql } from 'kysely';
import type { ReadableDatabase, Reader } from '../database/database.ts';
import type { RowSeals } from './sealed-rows.ts';
import { type StreamRow, streamsQuery, streamToWire } from './streams.ts';
import type { AuditTables } from './tables.ts';
import { hourOf, readTotals } from './totals.ts';
import type { AuditActivity, WireStats } from './wire/stats.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Maximum number of checks and pending checkpoints that are listed individually. */
const MOST_TOLD = 50;

/**
 * Returns the findings of the last checks of all streams. Anyone with access to the database can change or remove the
 * records of checks, so their count is compared with the sealed totals, in which each check is counted when it is
 * recorded.
 * @param reader of one snapshot, because the count is compared with the records.
 */
async function readLastChecks(reader: Reader, seals: RowSeals, now: Date) {
  const { streams, entries, stale, recent, new_streams, reached, ...counted } = await countRecords(reader, now);
  const totals = await readTotals(reader, seals);
  const newest = soundOf(await newestChecks(reader).execute(), seals);
  const failures = soundOf(await newestFailures(reader).execute(), seals);
  const verified = Math.min(counted.verified, totals?.verified ?? counted.verified);
  const failed = Math.min(counted.failed, totals?.failed ?? counted.failed);
  const fits = totals?.verified === counted.verified && totals.failed === counted.failed && totals.reached === reached;
  return {
    streams,
    entries,
    /** Streams whose last check found nothing wrong. */
    verified,
    /** Streams whose last check found something wrong. */
    failed,
    /** Newest failed checks, newest first. */
    told: failures.checks,
    /** Streams with entries after the range of their last check, which is more than a day old. */
    stale,
    /** Entries after the ranges of last checks of the last day. */
    recent,
    /** Streams without a valid record of a last check. */
    unrecorded: streams - verified - failed,
    /** Streams of the last day without a record of a check. */
    new_streams,
    /** Time of the newest last check; null if there is none. */
    last_checked_at: newest.checks[0]?.checked_at ?? null,
    /** Statistics of the same names: number of removed streams, and whether records differ from their totals. */
    missing_streams: totals === null ? null : Math.max(0, totals.streams - streams),
    checks_changed: totals === null ? null : !(fits && newest.areAll && failures.areAll),
  };
}

/** Counts of the records that are shown as the streams' last checks. */
interface CountedChecks {
  streams: number;
  entries: number;
  verified: number;
  failed: number;
  stale: number;
  recent: number;
  new_streams: number;
  reached: number;
}

export async function countRecords(reader: Reader, now: Date): Promise<CountedChecks> {
  const since = new Date(now.getTime() - DAY_MS).toISOString();
  const { rows } = await sql<CountedChecks>`
    SELECT count(*) AS streams,
      CAST(coalesce(sum(s.entry_count), 0) AS bigint) AS entries,
      count(CASE WHEN v.verified = 1 THEN 1 END) AS verified,
      count(CASE WHEN v.verified = 0 THEN 1 END) AS failed,
      count(CASE WHEN v.checked_at < ${since} AND s.head_sequence > coalesce(v.to_sequence, 0) THEN 1 END) AS stale,
      CAST(coalesce(sum(CASE WHEN v.checked_at >= ${since} THEN s.head_sequence - coalesce(v.to_sequence, 0) END), 0)
        AS bigint) AS recent,
      count(CASE WHEN v.verified IS NULL AND s.created_at >= ${since} THEN 1 END) AS new_streams,
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

/** Returns the query for the newest failed checks, which uses the index of failed checks; most streams have none. */
function newestFailures(reader: Reader) {
  return streamsQuery(reader)
    .whereRef('verifications.stream_no', '=', 'streams.stream_no')
    .where('verified', '=', 0)
    .orderBy('verifications.verification_no', 'desc')
    .limit(MOST_TOLD);
}

/** Returns the checks that were not changed, and whether all of them are unchanged. */
function soundOf(rows: readonly StreamRow[], seals: RowSeals) {
  const checks = rows.flatMap((row) => {
    const { stream_id, last_checked_at: checked_at } = streamToWire(row, seals);
    const { verification_id } = row;
    return checked_at === null || verification_id === null ? [] : [{ stream_id, verification_id, checked_at }];
  });
  return { checks, areAll: checks.length === rows.length };
}

type Counted = Pick<WireStats, 'entries_24h' | 'checkpoints' | 'pending_anchors' | 'evidence_packages'>;

/**
 * Returns the numbers of the dashboard at `now`. A stream that was removed with all its rows is detected only by the
 * sealed count of streams, which is compared with the present rows.
 * @param reader of one snapshot.
 */
export async function readStats(reader: Reader, seals: RowSeals, now: Date): Promise<WireStats> {
  const since = hourOf(new Date(now.getTime() - DAY_MS).toISOString());
  const { rows } = await sql<Counted>`
    SELECT
      (SELECT CAST(coalesce(sum(entries), 0) AS bigint) FROM hour_totals WHERE hour >= ${since}) AS entries_24h,
      (SELECT count(*) FROM checkpoints) AS checkpoints,
      (SELECT count(*) FROM checkpoints WHERE status = 'pending') AS pending_anchors,
      (SELECT count(*) FROM packages) AS evidence_packages`.execute(reader.tables());
  const [counted] = rows;
  if (counted === undefined) throw new Error('a query without a table returned no row');
  const { streams, entries, verified, failed, missing_streams, checks_changed } = await readLastChecks(
    reader,
    seals,
    now,
  );
  const known = missing_streams === null ? { verified: 0, failed: 0 } : { verified, failed };
  return {
    streams,
    entries,
    ...counted,
    verified_streams: known.verified,
    failed_streams: known.failed,
    unverified_streams: streams - known.verified - known.failed,
    missing_streams,
    checks_changed,
  };
}

/** Number of days shown, including the current one. */
const DAYS = 30;
const MOST_STREAMS = 12;

/** Counts the entries recorded on each of the last days, and the streams with the most entries. */
export async function readActivity(reader: Reader, now: Date): Promise<AuditActivity> {
  const days = Array.from({ length: DAYS }, (_, back) => dayOf(new Date(now.getTime() - (DAYS - 1 - back) * DAY_MS)));
  const since = days[0] ?? '';
  const tables = reader.tables<AuditTables>();
  const day = sql<string>`substr(hour, 1, 10)`;
  const counted = await tables
    .selectFrom('hour_totals')
    .where('hour', '>=', since)
    .select([day.as('day'), sql<number>`CAST(sum(entries) AS bigint)`.as('entries')])
    .groupBy(day)
    .execute();
  const streams = await tables
    .selectFrom('streams')
    .select(['stream_id', 'entry_count as entries'])
    .orderBy('entry_count', 'desc')
    .orderBy('stream_id')
    .limit(MOST_STREAMS)
    .execute();
  const counts = new Map(counted.map((each) => [each.day, each.entries]));
  return { days: days.map((each) => ({ day: each, entries: counts.get(each) ?? 0 })), streams };
}

export type Overview = Awaited<ReturnType<typeof readAuditOverview>>;

/** Returns the streams that need attention, and the extent of the checks. */
export async function readAuditOverview(database: ReadableDatabase, seals: RowSeals, now: Date) {
  const pending = await database
    .tables<AuditTables>()
    .selectFrom('checkpoints')
    .innerJoin('streams', 'streams.stream_no', 'checkpoints.stream_no')
    .select(['stream_id', 'sequence', 'checkpoints.created_at'])
    .where('status', '=', 'pending')
    .orderBy('ordinal')
    .limit(MOST_TOLD)
    .execute();
  const checks = await database.snapshot((reader) => readLastChecks(reader, seals, now));
  return {
    ...checks,
    /** Checkpoints without a timestamp, oldest first. */
    pending,
  };
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
