import { messageOf } from '../../src/core/errors.ts';
import { exitCodeOfError } from '../../src/core/terminal/exit.ts';
import { Printer } from '../../src/core/terminal/printer.ts';
import type { Command, CommandContext } from '../../src/exporter/cli/command.ts';
import { carryOut as carryOutCommand } from '../../src/exporter/cli/evidence.ts';
import { withNextStep } from '../../src/exporter/next-steps.ts';
import { keptOutput } from './output.ts';

interface CommandOptions {
  json?: boolean;
  verbose?: boolean;
  environment?: NodeJS.ProcessEnv;
}

/** Creates the context of a command that runs in this process, with the output that it prints. */
export function commandIn(
  directory: string,
  { json = true, verbose = false, environment = {} }: CommandOptions = {},
): { context: CommandContext; printed: { stdout: string; stderr: string } } {
  const { printed, stdout, stderr } = keptOutput();
  const printer = new Printer({ json, quiet: false, verbose, replacer: withNextStep, stdout, stderr });
  const signal = new AbortController().signal;
  return {
    context: {
      printer,
      signal,
      directory,
      environment,
      endAfter: () => undefined,
      codeOf: exitCodeOfError,
    },
    printed,
  };
}

/** Result of a command. */
export interface Answer {
  code: number;
  // biome-ignore lint/suspicious/noExplicitAny: a command's document, whose schema other tests check.
  document: any;
  stdout: string;
  stderr: string;
  /** Message of the final error; empty for none. */
  said: string;
}

/**
 * Runs a command in this process, as `evidence` does.
 * @param flags parsed flags; the command reads those that it knows.
 */
export async function carryOut<Flags extends object>(
  command: Command<Flags>,
  flags: object,
  directory: string,
  options: CommandOptions = {},
): Promise<Answer> {
  const { context, printed } = commandIn(directory, options);
  let said = '';
  const codeOf = (reason: unknown) => {
    said = messageOf(reason);
    return exitCodeOfError(reason);
  };
  const code = await carryOutCommand(async () => command, flags as Flags, { ...context, codeOf });
  const isDocument = options.json !== false && printed.stdout !== '';
  return { code, document: isDocument ? JSON.parse(printed.stdout) : null, ...printed, said };
}
