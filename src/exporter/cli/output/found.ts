import type { Printer, Styled } from '../../../core/terminal/printer.ts';

/** What is wrong, in which stream, and what to do now. */
export function printFound(what: Styled, streamId: string, message: string, nextStep: string, printer: Printer): void {
  printer.result([what, ` ${streamId}: ${message}`]);
  printer.result(`  ${nextStep}`);
}
