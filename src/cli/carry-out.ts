import type { Command, CommandContext } from './command.ts';
import { exitCodeOfError } from './exit.ts';
import { keepSecretsOf, refuseMisplaced, secretsOf, wordsOf } from './secrets.ts';

/**
 * Carries a command out, whatever breaks, and returns its exit code. No secret of the environment is printed, and none
 * may stand among the flags.
 *
 * @param codeOf the exit code of what broke.
 */
export async function carryOut<Flags extends object>(
  load: () => Promise<Command<Flags>>,
  flags: Flags,
  context: CommandContext,
  codeOf: (reason: unknown) => number = exitCodeOfError,
): Promise<number> {
  const { printer, signal, environment } = context;
  keepSecretsOf(environment, printer);
  try {
    refuseMisplaced(wordsOf(flags, environment, {}), secretsOf(environment));
    return await (await load())(flags, context);
  } catch (error) {
    // What breaks while the work is being ended is a consequence of that, not news.
    const reason = signal.aborted ? signal.reason : error;
    printer.failure(reason);
    return codeOf(reason);
  }
}
