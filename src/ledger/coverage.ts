import { addMonths, lastEndedMonth, periodOfMonths } from './months.ts';
import type { EarlierRun } from './record.ts';

/** What the runs of an archive have of a month. */
export interface CoveredMonth {
  /** `2026-10`, in UTC. */
  month: string;
  /** `whole`: every stream that was listed, on every day. `partial`: some streams, or some days. `none`: in no run. */
  state: 'whole' | 'partial' | 'none';
  /** The run that has most of it, the newest of several alike; null where it is in no run. */
  run: EarlierRun | null;
  /** Of the streams that the service listed for that run: how many the run has whole. */
  streams: { whole: number; listed: number } | null;
  /** Whether that run has all of the month's time; for a whole month, whether several runs together have it. */
  all_days: boolean;
}

/** A hundred years: a period that somebody mistyped must not make a calendar of ten thousand months. */
const MAX_MONTHS = 1200;

/**
 * Every month that the history of an archive makes expected, the oldest first: from the first one that a run has to the
 * last one that has ended.
 */
export function coverMonths(runs: readonly EarlierRun[], now: Date): CoveredMonth[] {
  const first = firstMonth(runs);
  const months: string[] = [];
  if (first === null) return [];
  for (let month = lastEndedMonth(now); month >= first && months.length < MAX_MONTHS; month = addMonths(month, -1))
    months.push(month);
  return months.reverse().map((month) => coverMonth(month, runs));
}

/** What the runs have of one month. */
export function coverMonth(month: string, runs: readonly EarlierRun[]): CoveredMonth {
  const { from, to } = periodOfMonths(month);
  const touching = runs.filter((run) => startOf(run) < to && from < run.until);
  const best = touching.reduce<EarlierRun | null>(
    (chosen, run) => (chosen === null || !hasMore(chosen, run, from, to) ? run : chosen),
    null,
  );
  if (best === null) return { month, state: 'none', run: null, streams: null, all_days: false };
  const isWhole = covers(touching.filter(isOfAllStreams), from, to);
  const streams = { whole: best.listed - best.left_out, listed: best.listed };
  return {
    month,
    state: isWhole ? 'whole' : 'partial',
    run: best,
    streams,
    all_days: isWhole || spans(best, from, to),
  };
}

/** The first month that a run has; null without a run. */
export function firstMonth(runs: readonly EarlierRun[]): string | null {
  const months = runs.map((run) => monthOf(run.period.from) ?? monthOf(run.first_entry) ?? monthOf(run.until));
  return months.filter((month) => month !== null).sort()[0] ?? null;
}

/** One month in words: `2026-09 is in no run`. */
export function describeMonth({ month, state, run, streams, all_days }: CoveredMonth): string {
  if (run === null || streams === null) return `${month} is in no run`;
  if (state === 'whole') return `${month} is in run ${run.run_id}`;
  const some = streams.whole < streams.listed ? `${streams.whole} of ${streams.listed} streams` : null;
  const lacks = [...(some === null ? [] : [some]), ...(all_days ? [] : ['some of its days'])].join(', ');
  return `of ${month} run ${run.run_id} has ${lacks}`;
}

function isOfAllStreams({ left_out }: EarlierRun): boolean {
  return left_out === 0;
}

/** Whether `one` has more of the time than `other`, or of as much time more of the streams. */
function hasMore(one: EarlierRun, other: EarlierRun, from: string, to: string): boolean {
  const [time, share] = [(run: EarlierRun) => Number(spans(run, from, to)), shareOf];
  return time(one) === time(other) ? share(one) > share(other) : time(one) > time(other);
}

function shareOf({ listed, left_out }: EarlierRun): number {
  return listed === 0 ? 1 : (listed - left_out) / listed;
}

function spans(run: EarlierRun, from: string, to: string): boolean {
  return startOf(run) <= from && to <= run.until;
}

/** Whether the runs together have all of the time between two moments. */
function covers(runs: readonly EarlierRun[], from: string, to: string): boolean {
  let reached = from;
  for (const run of runs.toSorted((a, b) => (startOf(a) < startOf(b) ? -1 : 1)))
    if (startOf(run) <= reached && run.until > reached) reached = run.until;
  return reached >= to;
}

/** A period without a beginning begins before all times. */
function startOf({ period }: EarlierRun): string {
  return period.from ?? '';
}

function monthOf(time: string | null): string | null {
  if (time === null) return null;
  const month = time.slice(0, 7).padEnd(7, '-01');
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(month) ? month : null;
}
