import { grouped, plural } from '../../../core/plurals.ts';
import { describeDays } from '../../../verifier/bundle/period.ts';
import { toEarlierRun } from '../../../verifier/ledger/earlier-runs.ts';
import { type CoveredMonth, coverMonth, coverMonths, latestOf } from '../../../verifier/records/coverage.ts';
import type { Outcome } from '../../../verifier/records/outcome.ts';
import type { EarlierRun, RunRecord } from '../../../verifier/records/record.ts';
import { fill } from './sentences.ts';
import type { Texts } from './texts.ts';

interface CoverageMonth {
  /** Month in the form `2026-10`. */
  month: string;
  state: CoveredMonth['state'];
  /**
   * `refuted` if any run that covers part of the month is refuted; otherwise the outcome of the run that covers most of
   * it. Null if no run covers any of it.
   */
  outcome: Outcome | null;
  /** Part of the month that this run covers; null if it covers all of it. */
  note: string | null;
}

export interface Coverage {
  months: CoverageMonth[];
  /** Latest runs, newest first. */
  runs: EarlierRun[];
  /** Sentences about the days without entries in this run. */
  quiet: string[];
}

const MONTHS = 120;
const RUNS = 24;

/** Lists the months from the first exported month to the current one, including this run. */
export function toCoverage(record: RunRecord, texts: Texts): Coverage {
  const runs = [...record.earlier_runs, toEarlierRun(record)];
  const now = new Date(record.finished_at);
  const begun = coverMonth(now.toISOString().slice(0, 7), runs);
  const months = [...coverMonths(runs, now), ...(begun.run === null ? [] : [begun])].slice(-MONTHS);
  return {
    months: months.map((month) => toMonth(month, texts)),
    runs: runs.toReversed().slice(0, RUNS),
    quiet: toQuietDays(record, texts),
  };
}

function toMonth(
  { month, state, run, runs, streams, all_days }: CoveredMonth<EarlierRun>,
  { coverage: texts }: Texts,
): CoverageMonth {
  const some = streams !== null && streams.whole < streams.listed;
  const share = some ? `${grouped(streams.whole)} of ${grouped(streams.listed)}` : null;
  const days = all_days ? null : texts.some_days;
  const note = state === 'partial' ? [share, days].filter((part) => part !== null).join(', ') : null;
  const isRefuted = runs.some(({ outcome }) => outcome === 'refuted');
  return { month, state, outcome: isRefuted ? 'refuted' : (run?.outcome ?? null), note };
}

const DAY_MS = 86_400_000;
const RANGES = 20;
/** Maximum number of days that are checked one by one. */
const MAX_DAYS = 3660;

/**
 * Describes the days of the period on which no stream has an entry. An open period begins with the first entry and ends
 * with the export.
 */
function toQuietDays(record: RunRecord, { coverage: texts }: Texts): string[] {
  const { streams, period } = record;
  const busy = new Set<string>();
  let isByDay = true;
  for (const { activity } of streams)
    for (const day of Object.keys(activity.counts)) {
      busy.add(day);
      isByDay &&= activity.per === 'day';
    }
  if (busy.size === 0) return [];
  if (!isByDay) return [texts.not_by_day];
  const sorted = [...busy].sort();
  const first = period.from ?? `${sorted[0]}T00:00:00.000Z`;
  const last = period.to === null ? latestOf(record) : new Date(Date.parse(period.to) - 1).toISOString();
  const quiet = daysBetween(first, last).filter((day) => !busy.has(day));
  if (quiet.length === 0) return [texts.no_quiet_day];
  const ranges = toRanges(quiet);
  const named = ranges.slice(0, RANGES).map(([from, to]) => describeDays(from, to));
  const rest = ranges.length > RANGES ? fill(texts.more_quiet, { count: ranges.length - RANGES }) : '';
  return [`${fill(texts.quiet, { days: plural(quiet.length, 'day') })} ${named.join('; ')}${rest}.`];
}

function daysBetween(first: string, last: string): string[] {
  const [start, end] = [first, last].map((time) => Date.parse(`${time.slice(0, 10)}T00:00:00Z`)) as [number, number];
  const count = Math.min((end - start) / DAY_MS + 1, MAX_DAYS);
  return Array.from({ length: Math.max(count, 0) }, (_, day) =>
    new Date(start + day * DAY_MS).toISOString().slice(0, 10),
  );
}

/** Merges consecutive days into ranges. */
function toRanges(days: readonly string[]): [from: string, to: string][] {
  const ranges: [string, string][] = [];
  for (const day of days) {
    const last = ranges.at(-1);
    if (last !== undefined && Date.parse(day) - Date.parse(last[1]) === DAY_MS) last[1] = day;
    else ranges.push([day, day]);
  }
  return ranges;
}
