import type { Printer } from '../../core/terminal/printer.ts';

/** What every command is given besides its own flags. */
export interface CommandContext {
  printer: Printer;
  signal: AbortSignal;
  /** Where the user stands. */
  directory: string;
  environment: NodeJS.ProcessEnv;
}

/** Carries a command out and returns its exit code. */
export type Command<Flags> = (flags: Flags, context: CommandContext) => Promise<number>;
