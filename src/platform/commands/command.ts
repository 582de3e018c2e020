import type { CommandTable, Flag, Flags, Program, ValuesOf } from '../../core/terminal/command-table.ts';

/** Work of a command. Receives the values of its flags and operands, and the program for its help. */
export type Work<Values = object> = (values: Values, program: Program) => Promise<void>;

export type PlatformCommand = CommandTable<Work>;

type None = Record<never, Flag>;

/** Declares a command. The type of the values for its work follows from its table. */
export function command<const O extends Flags = None, const F extends Flags = None>(
  table: CommandTable<Work<ValuesOf<{ operands: O; flags: F }>>> & { operands?: O; flags?: F },
): PlatformCommand {
  return table as PlatformCommand;
}
