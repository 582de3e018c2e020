import { toEarlierRun } from '../../ledger/earlier-runs.ts';
import type { Outcome } from '../../ledger/outcome.ts';
import type { EarlierRun, RunRecord } from '../../ledger/record.ts';

export interface CoverageMonth {
  /** `2026-10`. */
  month: string;
  /** Of the newest run of it; null where there is none. */
  outcome: Outcome | null;
  runId: string | null;
  /** Whether that run is of all of the month. */
  whole: boolean;
}

export interface Coverage {
  months: CoverageMonth[];
  /** Newest first. */
  runs: EarlierRun[];
}

const MONTHS = 24;
const RUNS = 24;

/** Which months the archive has an export of, this run included. */
export function toCoverage(record: RunRecord): Coverage {
  const runs = [...record.earlier_runs, toEarlierRun(record)];
  const ends = runs.map((run) => lastMonthOf(run)).sort();
  const last = ends.at(-1) ?? record.finished_at.slice(0, 7);
  const months = Array.from({ length: MONTHS }, (_, index) => monthBefore(last, MONTHS - 1 - index));
  return { months: months.map((month) => coverOf(month, runs)), runs: runs.toReversed().slice(0, RUNS) };
}

function coverOf(month: string, runs: readonly EarlierRun[]): CoverageMonth {
  const [start, end] = [`${month}-01T00:00:00.000Z`, `${monthBefore(month, -1)}-01T00:00:00.000Z`];
  const touching = runs.filter((run) => startOf(run) < end && start < endOf(run));
  const covers = (run: EarlierRun) => startOf(run) <= start && end <= endOf(run);
  const newest = touching.findLast(covers) ?? touching.at(-1);
  if (newest === undefined) return { month, outcome: null, runId: null, whole: false };
  return { month, outcome: newest.outcome, runId: newest.run_id, whole: covers(newest) };
}

/** Of the time before the first entry a period without a beginning tells nothing. Behind all times without an entry. */
function startOf({ period, first_entry }: EarlierRun): string {
  if (period.from !== null) return period.from;
  return first_entry === null ? '~' : `${first_entry.slice(0, 7).padEnd(7, '-01')}-01T00:00:00.000Z`;
}

function endOf({ period, finished_at }: EarlierRun): string {
  return period.to ?? finished_at;
}

function lastMonthOf({ period, finished_at }: EarlierRun): string {
  return period.to === null ? finished_at.slice(0, 7) : new Date(Date.parse(period.to) - 1).toISOString().slice(0, 7);
}

function monthBefore(month: string, count: number): string {
  const date = new Date(`${month}-01T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() - count);
  return date.toISOString().slice(0, 7);
}
