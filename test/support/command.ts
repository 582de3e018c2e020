import type { CommandContext } from '../../src/cli/command.ts';
import { exitCodeOfError } from '../../src/cli/exit.ts';
import { Printer } from '../../src/cli/printer.ts';
import { messageOf } from '../../src/errors.ts';

/** What a command is given, and what it printed. For what needs no process of its own. */
export function commandIn(
  directory: string,
  { json = true, environment = {} }: { json?: boolean; environment?: NodeJS.ProcessEnv } = {},
): { context: CommandContext; printed: { stdout: string; stderr: string } } {
  const printed = { stdout: '', stderr: '' };
  const into = (name: keyof typeof printed) => ({
    write: (text: string) => {
      printed[name] += text;
    },
  });
  const printer = new Printer({ json, quiet: false, stdout: into('stdout'), stderr: into('stderr') });
  const signal = new AbortController().signal;
  return { context: { printer, signal, directory, environment }, printed };
}

/** What came of a command. */
export interface Answer {
  code: number;
  // biome-ignore lint/suspicious/noExplicitAny: the document of a command, whose form is not what is tested here.
  document: any;
  /** What was printed, where it was no document. */
  text: string;
  /** The message of the error that it ended with; empty for none. */
  said: string;
}

/** Carries out a command in this process. @param flags as yargs gives them, of which a command reads what it knows. */
export async function carryOut<Flags>(
  command: (flags: Flags, context: CommandContext) => Promise<number>,
  flags: Record<string, unknown>,
  directory: string,
  options: { json?: boolean; environment?: NodeJS.ProcessEnv } = {},
): Promise<Answer> {
  const { context, printed } = commandIn(directory, options);
  let said = '';
  const code = await command(flags as Flags, context).catch((thrown: unknown) => {
    said = messageOf(thrown);
    return exitCodeOfError(thrown);
  });
  const isDocument = options.json !== false && printed.stdout !== '';
  return { code, document: isDocument ? JSON.parse(printed.stdout) : null, text: printed.stdout, said };
}
