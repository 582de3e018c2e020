import { EvidenceError } from '../../core/errors.ts';
import { exitCodeOfError } from '../../core/terminal/exit.ts';
import type { Command, CommandContext } from './command.ts';
import { givenWords, keepSecretsOf, refuseMisplaced, secretsOf } from './config/secrets.ts';

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
    refuseEmpty(flags);
    refuseMisplaced(givenWords(flags, environment, {}), secretsOf(environment));
    return await (await load())(flags, context);
  } catch (error) {
    // What breaks while the work is being ended is a consequence of that, not news.
    const reason = signal.aborted ? signal.reason : error;
    printer.failure(reason);
    return codeOf(reason);
  }
}

/** A flag without a value, or with an empty one, would silently ask for something else than its user meant. */
function refuseEmpty(flags: object): void {
  for (const [name, value] of Object.entries(flags)) {
    const isEmpty = Array.isArray(value) ? value.length === 0 || value.includes('') : value === '';
    if (!isEmpty || !/^[a-z]/.test(name)) continue;
    throw new EvidenceError('usage', `--${name} is given without a value`, {
      nextStep: `Give one, or leave --${name} out. A variable that it was to come from may be empty.`,
    });
  }
}
