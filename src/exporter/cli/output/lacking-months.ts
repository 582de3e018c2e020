import { type Printer, styled } from '../../../core/terminal/printer.ts';
import { describeMonth, type MonthReport } from '../../../verifier/records/month-report.ts';

const SHOWN = 24;

/** Prints the ended months that no run covers completely, and how to export them. @param months oldest first. */
export function printLacking(months: readonly MonthReport[], printer: Printer): void {
  const lacking = months.filter(({ state }) => state !== 'whole');
  if (lacking.length === 0) return;
  printer.result('');
  if (lacking.length > SHOWN) printer.result(`… and ${lacking.length - SHOWN} earlier months; --json lists all.`);
  for (const month of lacking.slice(-SHOWN)) printer.result([styled('missing', 'yellow'), ` ${describeMonth(month)}`]);
  printer.result('Export them with: evidence export --missing');
}
