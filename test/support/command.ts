import { carryOut } from '../../src/cli/carry-out.ts';
import type { Command, CommandContext } from '../../src/cli/command.ts';
import { Printer } from '../../src/cli/printer.ts';

/** What a command is given, and what it printed. For what needs no process of its own. */
export function commandIn(directory: string): { context: CommandContext; printed: { stdout: string; stderr: string } } {
  const printed = { stdout: '', stderr: '' };
  const into = (name: keyof typeof printed) => ({
    write: (text: string) => {
      printed[name] += text;
    },
  });
  const printer = new Printer({ json: true, quiet: false, stdout: into('stdout'), stderr: into('stderr') });
  const signal = new AbortController().signal;
  return { context: { printer, signal, directory, environment: {} }, printed };
}

/** A command carried out in this process, as `evidence` does it, with what it printed and the exit code. */
export async function carriedOut<Flags extends object>(
  command: Command<Flags>,
  flags: object,
  directory: string,
  environment: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { context, printed } = commandIn(directory);
  const code = await carryOut(async () => command, { _: [], $0: '', ...flags } as Flags, { ...context, environment });
  return { code, ...printed };
}
