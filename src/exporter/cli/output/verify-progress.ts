import type { ArchiveContext } from '../../../verifier/verify/archive-reading.ts';
import type { RunCheck } from '../../../verifier/verify/run.ts';
import type { CommandContext } from '../command.ts';
import { LiveLines } from './live-lines.ts';

/** Tells on stderr how it goes: run by run where there are several, and on a terminal stream by stream. */
export class VerifyProgress implements Pick<ArchiveContext, 'onStream' | 'onRun' | 'onRunEnd'> {
  readonly #context: CommandContext;
  readonly #live: LiveLines;
  /** The run that is being looked at. */
  #current: string | null = null;
  #streams = 0;

  constructor(context: CommandContext) {
    this.#context = context;
    this.#live = new LiveLines(context.printer);
  }

  readonly onStream = (streamId: string) => {
    this.#context.signal.throwIfAborted();
    this.#streams += 1;
    this.#live.show([`  ${this.#current}: stream ${this.#streams}: ${streamId}`]);
  };

  readonly onRun = (runId: string) => {
    this.#current = runId;
    this.#streams = 0;
  };

  readonly onRunEnd = ({ runId, outcome }: RunCheck, number: number, of: number) => {
    this.#live.takeBack();
    this.#current = null;
    if (of > 1) this.#context.printer.note(`Run ${runId} (${number} of ${of}): ${outcome}`);
  };

  /** Says where to go on, if it was ended before it was done. */
  close(): void {
    const { signal, printer } = this.#context;
    this.#live.takeBack();
    if (signal.aborted && this.#current !== null)
      printer.note(`To go on with this run later, and not begin anew: --from ${this.#current}`);
  }
}
