import { grouped } from '../../../core/plurals.ts';
import { toEarlierRun } from '../../../verifier/ledger/earlier-runs.ts';
import { type CoveredMonth, coverMonth, coverMonths } from '../../../verifier/records/coverage.ts';
import type { Outcome } from '../../../verifier/records/outcome.ts';
import type { EarlierRun, RunRecord } from '../../../verifier/records/record.ts';
import { toQuietDays } from './quiet-days.ts';
import type { Texts } from './texts.ts';

export interface CoverageMonth {
  /** `2026-10`. */
  month: string;
  state: CoveredMonth['state'];
  /**
   * `refuted` where a run that has some of it is; otherwise that of the run that has most of it. Null where none has.
   */
  outcome: Outcome | null;
  /** The extent in that run; null if it has all. */
  note: string | null;
}

export interface Coverage {
  months: CoverageMonth[];
  /** Newest first. */
  runs: EarlierRun[];
  /** When nothing was recorded, in this run. */
  quiet: string[];
}

const MONTHS = 120;
const RUNS = 24;

/**
 * Lists the months with an export, this run included: from the first that a run has to the last one begun.
 */
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
