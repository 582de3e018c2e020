import type { StoredLedgerEntry } from '../ledger/ledger.ts';
import { coverMonths } from '../records/coverage.ts';
import { type MonthReport, toMonthReport } from '../records/month-report.ts';

/**
 * Says for each month that has ended if a run has it.
 * @param entries of the ledger, the oldest first.
 */
export function reportMonths(entries: readonly StoredLedgerEntry[], now: Date): MonthReport[] {
  const runs = entries.flatMap(({ entry }) => ('run_id' in entry ? [{ run_id: entry.run_id, ...entry.coverage }] : []));
  return coverMonths(runs, now).map(toMonthReport);
}
