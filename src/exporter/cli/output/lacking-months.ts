import { type Printer, styled } from '../../../core/terminal/printer.ts';
import { describeMonth, type MonthReport } from '../../../verifier/records/month-report.ts';

const SHOWN = 24;

/** Months that have ended and that no run has whole, and how they are got. @param months the oldest first. */
export function printLacking(months: readonly MonthReport[], printer: Printer): void {
  const lacking = months.filter(({ state }) => state !== 'whole');
  if (lacking.length === 0) return;
  printer.result('');
  if (lacking.length > SHOWN) printer.result(`… and ${lacking.length - SHOWN} earlier months; --json has them.`);
  for (const month of lacking.slice(-SHOWN)) printer.result([styled('missing', 'yellow'), ` ${describeMonth(month)}`]);
  printer.result('Export them with: evidence export --missing');
}
