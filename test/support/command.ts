import type { CommandContext } from '../../src/cli/command.ts';
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
