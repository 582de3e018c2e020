import { isEvidenceError } from '../../core/errors.ts';
import type { Printer } from '../../core/terminal/printer.ts';
import type { Interruption } from './interruption.ts';

/** Dependencies that every command receives besides its flags. */
export interface CommandContext {
  printer: Printer;
  signal: AbortSignal;
  /** The user's current folder. */
  directory: string;
  environment: NodeJS.ProcessEnv;
  /** Returns the exit code for an error that ends the command. */
  codeOf: (error: unknown) => number;
  /** Ends the command after this time. */
  endAfter: Interruption['endAfter'];
}

/** Runs a command and returns its exit code. */
export type Command<Flags> = (flags: Flags, context: CommandContext) => Promise<number>;

/**
 * Returns the reason that a command ended. Errors that occur while an interrupted command shuts down are consequences
 * of the interruption.
 */
export function reasonOfEnd(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted && !isEvidenceError(error, 'interrupted') ? signal.reason : error;
}
