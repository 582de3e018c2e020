import { isEvidenceError } from '../../core/errors.ts';
import type { Printer } from '../../core/terminal/printer.ts';
import type { Interruption } from './interruption.ts';

/** The means that every command is given besides its own flags. */
export interface CommandContext {
  printer: Printer;
  signal: AbortSignal;
  /** The user's current folder. */
  directory: string;
  environment: NodeJS.ProcessEnv;
  /** The exit code of an error that ends the command. */
  codeOf: (error: unknown) => number;
  /** Ends the command once so much time has passed. */
  endAfter: Interruption['endAfter'];
}

/** Carries a command out and returns its exit code. */
export type Command<Flags> = (flags: Flags, context: CommandContext) => Promise<number>;

/** The reason why a command ended: what breaks while its work is being ended is a consequence of that, not news. */
export function reasonOfEnd(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted && !isEvidenceError(error, 'interrupted') ? signal.reason : error;
}
