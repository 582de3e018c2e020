import type { CoveredMonth } from './coverage.ts';

/** A month as documents say it. */
export interface MonthReport extends Pick<CoveredMonth, 'month' | 'state' | 'streams' | 'all_days'> {
  run_id: string | null;
}

export function toMonthReport({ run, month, state, streams, all_days }: CoveredMonth): MonthReport {
  return { month, state, streams, all_days, run_id: run?.run_id ?? null };
}

/** One month in words: `2026-09 is in no finalized run`. */
export function describeMonth({ month, state, run_id, streams, all_days }: MonthReport): string {
  if (streams === null) return `${month} is in no finalized run`;
  if (state === 'whole') return `${month} is in run ${run_id}`;
  const some = streams.whole < streams.listed ? [`${streams.whole} of ${streams.listed} streams`] : [];
  return `of ${month} run ${run_id} has ${[...some, ...(all_days ? [] : ['some of its days'])].join(', ')}`;
}
