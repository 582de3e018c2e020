import { exitCodeOfError } from '../../core/terminal/exit.ts';
import { Printer } from '../../core/terminal/printer.ts';
import { carryOut } from './carry-out.ts';
import type { Command } from './command.ts';
import { onInterruption } from './interruption.ts';

/**
 * Runs a command between printer and interruption; here alone the exit code of the process is set.
 * @param load the work of the command. It is loaded when it is asked for, and stands in a file beside its flags, because
 * the work of a single command takes longer to load than all of `--help` takes.
 * @param operands the names of what is given without a flag.
 */
export function run<Flags extends object>(load: () => Promise<Command<Flags>>, ...operands: string[]) {
  const work = async (flags: unknown): Promise<void> => {
    const { json, quiet, verbose } = flags as { json?: boolean; quiet?: boolean; verbose?: boolean };
    const interruption = onInterruption();
    const context = {
      printer: new Printer({ json: json === true, quiet: quiet === true, verbose: verbose === true }),
      signal: interruption.signal,
      directory: process.cwd(),
      environment: process.env,
    };
    const codeOf = (reason: unknown) => interruption.exitCode() ?? exitCodeOfError(reason);
    try {
      process.exitCode = await carryOut(load, flags as Flags, context, { codeOf, operands });
    } finally {
      interruption.dispose();
    }
  };
  return (flags: unknown): never => {
    throw new ChosenCommand(() => work(flags));
  };
}

/** Thrown by a handler to leave the parser, which would lay out the help of the command before its work begins. */
export class ChosenCommand extends Error {
  readonly work: () => Promise<void>;

  constructor(work: () => Promise<void>) {
    super('a command was chosen');
    this.work = work;
  }
}
