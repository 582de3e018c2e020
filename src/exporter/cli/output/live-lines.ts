import type { Printer } from '../../../core/terminal/printer.ts';
import { canTakeBack, liveLine } from '../../../core/terminal/table.ts';

/**
 * Lines at the end of stderr that are continually replaced. Not shown if stderr is no terminal or is read by programs.
 */
export class LiveLines {
  readonly #printer: Printer;
  readonly isShown: boolean;
  #lines = 0;

  constructor(printer: Printer) {
    this.#printer = printer;
    // Detailed lines would be printed below the live ones, and takeBack would erase them instead.
    this.isShown = canTakeBack() && !printer.quiet && !printer.verbose && !printer.logsJson;
  }

  /** Replaces the lines. */
  show(lines: readonly string[]): void {
    if (!this.isShown) return;
    this.takeBack();
    process.stderr.write(lines.map((line) => `${liveLine(this.#printer.scrub(line))}\n`).join(''));
    this.#lines = lines.length;
  }

  takeBack(): void {
    if (this.#lines > 0) process.stderr.write(`\x1b[${this.#lines}F\x1b[J`);
    this.#lines = 0;
  }
}
