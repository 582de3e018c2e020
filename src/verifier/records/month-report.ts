import type { CoveredMonth } from './coverage.ts';

/** Coverage of a month as written into documents. */
export interface MonthReport extends Pick<CoveredMonth, 'month' | 'state' | 'streams' | 'all_days'> {
  run_id: string | null;
}

export function toMonthReport({ run, month, state, streams, all_days }: CoveredMonth): MonthReport {
  return { month, state, streams, all_days, run_id: run?.run_id ?? null };
}

/** Describes a month, e.g. `2026-09 is in no finalized run`. */
export function describeMonth({ month, state, run_id, streams, all_days }: MonthReport): string {
  if (streams === null) return `${month} is in no finalized run`;
  if (state === 'whole') return `${month} is in run ${run_id}`;
  const some = streams.whole < streams.listed ? [`${streams.whole} of ${streams.listed} streams`] : [];
  return `of ${month} run ${run_id} has ${[...some, ...(all_days ? [] : ['some of its days'])].join(', ')}`;
}
