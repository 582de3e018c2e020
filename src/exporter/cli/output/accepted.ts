import { type Printer, styled } from '../../../core/terminal/printer.ts';
import { describeRestart } from '../../../verifier/claims/restart.ts';
import type { Acceptance } from '../../../verifier/records/record.ts';

/** Prints who accepted that some earlier entries of a stream are no longer compared. */
export function printAccepted(acceptances: readonly Omit<Acceptance, 'format'>[], printer: Printer): void {
  for (const acceptance of acceptances)
    printer.result([styled('accepted', 'yellow'), ` ${acceptance.stream_id}: ${describeRestart(acceptance)}`]);
}
