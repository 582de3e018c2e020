import { z } from 'zod';
import type { Rows } from '../../core/rows/rows.ts';
import { periodSchema } from '../claims/schemas.ts';
import { timeSchema } from '../model/schemas.ts';
import { addMonths, lastEndedMonth, monthOf, periodOfMonths } from './months.ts';
import { filterOf, type Question } from './question.ts';

const count = z.int().min(0);

/** Streams and time that a run covers. */
export const coverageSchema = z.strictObject({
  period: periodSchema,
  /** Time up to which the run can have entries: the end of its period or, without one, the start of the run. */
  until: timeSchema,
  /** See `filterOf`. */
  filter: z.string(),
  /**
   * Number of streams that the service listed, and of those that the run does not have whole: partial, failed or
   * excluded.
   */
  listed: count,
  left_out: count,
  excluded: count,
  /** Earliest day, month or year of an entry; null without a dated entry. */
  first_entry: z.string().nullable(),
});

/** Coverage of a run, with its id. */
export type CoveringRun = z.infer<typeof coverageSchema> & { run_id: string };

/** Coverage of a month by the runs of an archive. */
export interface CoveredMonth<Run extends CoveringRun = CoveringRun> {
  /** `2026-10`, in UTC. */
  month: string;
  /** `whole`: every listed stream on every day. `partial`: some streams or some days. `none`: in no finalized run. */
  state: 'whole' | 'partial' | 'none';
  /** Run that covers most of the month, the newest of equals; null if no finalized run covers any of it. */
  run: Run | null;
  /** All runs that cover part of the month, oldest first. */
  runs: Run[];
  /** Number of streams that the service listed for `run`, and of those that it has whole. */
  streams: { whole: number; listed: number } | null;
  /** True if `run` covers all of the month's time; for a whole month, also if several runs do so together. */
  all_days: boolean;
}

/** Maximum number of months, one hundred years: a mistyped period must not make a calendar of ten thousand months. */
const MAX_MONTHS = 1200;

/** Parts of a run record that determine its time and streams. */
interface Covering extends Pick<Question, 'period' | 'scope'> {
  begun_at: string;
  begun_at_by_service: string | null;
  streams: Rows<{ activity: { counts: Record<string, number> } }>;
  reconciliation: { listed: number; partial: number; failed: number; excluded: number };
}

/** Returns the time up to which a run whose period has no end has entries, by the clock that dates them. */
export function latestOf(run: Pick<Covering, 'begun_at' | 'begun_at_by_service'>): string {
  return run.begun_at_by_service ?? run.begun_at;
}

export function coverageOf(run: Covering): z.infer<typeof coverageSchema> {
  const { period, scope, streams, reconciliation } = run;
  const { listed, partial, failed, excluded } = reconciliation;
  const first = streams.reduce<string | null>((least, { activity }) => {
    const [time] = Object.keys(activity.counts);
    return time === undefined || (least !== null && least <= time) ? least : time;
  }, null);
  return {
    period,
    until: period.to ?? latestOf(run),
    filter: filterOf(scope),
    listed,
    left_out: partial + failed + excluded,
    excluded,
    first_entry: first,
  };
}

/**
 * Returns the coverage of every expected month, oldest first: from the first month that a run covers to the last one
 * that has ended.
 * @param runs oldest first.
 * @param filter streams that a whole month must have, see `filterOf`; all streams by default.
 * @param begun first month that is expected although no run covers it yet; null for none.
 */
export function coverMonths<Run extends CoveringRun>(
  runs: readonly Run[],
  now: Date,
  filter = '',
  begun: string | null = null,
): CoveredMonth<Run>[] {
  const [first = null] = [firstMonth(runs), begun].filter((month) => month !== null).sort();
  const months: string[] = [];
  if (first === null) return [];
  for (let month = lastEndedMonth(now); month >= first && months.length < MAX_MONTHS; month = addMonths(month, -1))
    months.push(month);
  return months.reverse().map((month) => coverMonth(month, runs, filter));
}

/** Returns the coverage of one month. */
export function coverMonth<Run extends CoveringRun>(
  month: string,
  runs: readonly Run[],
  filter = '',
): CoveredMonth<Run> {
  const { from, to } = periodOfMonths(month);
  const touching = runs.filter((run) => startOf(run) < to && from < run.until);
  const amount = (run: Run) => timeIn(run, from, to) * shareOf(run);
  const best = touching.reduce<Run | null>(
    (chosen, run) => (chosen === null || amount(run) >= amount(chosen) ? run : chosen),
    null,
  );
  if (best === null) return { month, state: 'none', run: null, runs: [], streams: null, all_days: false };
  const isWhole = covers(
    touching.filter((run) => hasAllStreams(run, filter)),
    from,
    to,
  );
  const streams = { whole: best.listed - best.left_out, listed: best.listed };
  return {
    month,
    state: isWhole ? 'whole' : 'partial',
    run: best,
    runs: touching,
    streams,
    all_days: isWhole || spans(best, from, to),
  };
}

/** Returns the first month that a run covers; null without a run. */
function firstMonth(runs: readonly CoveringRun[]): string | null {
  const months = runs.map(({ period, first_entry, until }) => {
    const known = [period.from, first_entry, until].flatMap((time) => (time === null ? [] : (monthOf(time) ?? [])));
    return known[0] ?? null;
  });
  return months.filter((month) => month !== null).sort()[0] ?? null;
}

function hasAllStreams({ filter, left_out, excluded }: CoveringRun, wanted: string): boolean {
  return left_out === 0 || (wanted !== '' && filter === wanted && left_out === excluded);
}

/** Returns the time between two moments that a run covers, in milliseconds. */
function timeIn(run: CoveringRun, from: string, to: string): number {
  const [start, end] = [startOf(run) > from ? startOf(run) : from, run.until < to ? run.until : to];
  return Date.parse(end) - Date.parse(start);
}

function shareOf({ listed, left_out }: CoveringRun): number {
  return listed === 0 ? 1 : (listed - left_out) / listed;
}

function spans(run: CoveringRun, from: string, to: string): boolean {
  return startOf(run) <= from && to <= run.until;
}

/** Reports whether the runs together cover all the time between two moments. */
function covers(runs: readonly CoveringRun[], from: string, to: string): boolean {
  let reached = from;
  for (const run of runs.toSorted((a, b) => (startOf(a) < startOf(b) ? -1 : 1)))
    if (startOf(run) <= reached && run.until > reached) reached = run.until;
  return reached >= to;
}

/** Returns the start of a run's period; an open start sorts before all times. */
function startOf({ period }: CoveringRun): string {
  return period.from ?? '';
}
