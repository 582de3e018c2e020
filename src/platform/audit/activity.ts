import { sql } from 'kysely';
import { z } from 'zod';
import type { ReadableDatabase, Reader } from '../database/database.ts';
import { type LastChecks, readLastChecks } from './last-checks.ts';
import type { RowSeals } from './row-seals.ts';
import type { AuditTables } from './tables.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Days that are told, with the one that has begun. */
const DAYS = 30;
const MOST_STREAMS = 12;
/** Pending checkpoints that are told one by one. */
const MOST_TOLD = 50;

export const activitySchema = z.object({
  /** In UTC, without gaps. */
  days: z.array(z.object({ day: z.string(), entries: z.int().min(0) })),
  /** Those with the most entries in these days. */
  streams: z.array(z.object({ stream_id: z.string(), entries: z.int().min(0) })),
});
export type AuditActivity = z.infer<typeof activitySchema>;

/** Counts the entries that were recorded on each of the last days, and in which streams. */
export async function readActivity(reader: Reader, now: Date): Promise<AuditActivity> {
  const days = Array.from({ length: DAYS }, (_, back) => dayOf(new Date(now.getTime() - (DAYS - 1 - back) * DAY_MS)));
  const since = days[0] ?? '';
  const hours = reader.tables<AuditTables>().selectFrom('entry_hours').where('hour', '>=', since);
  const day = sql<string>`substr(hour, 1, 10)`;
  const entries = sql<number>`CAST(sum(entries) AS bigint)`.as('entries');
  const counted = await hours
    .select([day.as('day'), entries])
    .groupBy(day)
    .execute();
  const streams = await hours
    .innerJoin('streams', 'streams.stream_no', 'entry_hours.stream_no')
    .select(['stream_id', entries])
    .groupBy('stream_id')
    .orderBy('entries', 'desc')
    .orderBy('stream_id')
    .limit(MOST_STREAMS)
    .execute();
  const counts = new Map(counted.map((each) => [each.day, each.entries]));
  return { days: days.map((each) => ({ day: each, entries: counts.get(each) ?? 0 })), streams };
}

/** The streams to be looked at, and how far what was checked reaches. */
export interface Overview extends LastChecks {
  /** Checkpoints without a time stamp, oldest first. */
  pending: { stream_id: string; sequence: number; created_at: string }[];
}

export async function readAuditOverview(database: ReadableDatabase, seals: RowSeals): Promise<Overview> {
  const pending = await database
    .tables<AuditTables>()
    .selectFrom('checkpoints')
    .innerJoin('streams', 'streams.stream_no', 'checkpoints.stream_no')
    .select(['stream_id', 'sequence', 'checkpoints.created_at'])
    .where('status', '=', 'pending')
    .orderBy('ordinal')
    .limit(MOST_TOLD)
    .execute();
  return { ...(await database.snapshot((reader) => readLastChecks(reader, seals))), pending };
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
