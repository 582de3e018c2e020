import { EvidenceError } from '../../core/errors.ts';
import { type Command, type CommandContext, reasonOfEnd } from './command.ts';
import { givenWords, keepSecretsOf, refuseMisplaced, secretsOf } from './config/secrets.ts';

/**
 * Carries a command out, whatever breaks, and returns its exit code. No secret of the environment is printed, and none
 * may stand among the flags.
 *
 * @param operands the names of what is given without a flag.
 */
export async function carryOut<Flags extends object>(
  load: () => Promise<Command<Flags>>,
  flags: Flags,
  context: CommandContext,
  operands: readonly string[] = [],
): Promise<number> {
  const { printer, signal, environment, codeOf } = context;
  keepSecretsOf(environment, printer);
  try {
    refuseEmpty(flags, operands);
    refuseMisplaced(givenWords(flags, environment, {}), secretsOf(environment));
    return await (await load())(flags, context);
  } catch (error) {
    const reason = reasonOfEnd(error, signal);
    printer.failure(reason);
    return codeOf(reason);
  }
}

/** A flag without a value, or with an empty one, would silently ask for something else than its user meant. */
function refuseEmpty(flags: object, operands: readonly string[]): void {
  for (const [name, value] of Object.entries(flags)) {
    const isEmpty = Array.isArray(value) ? value.length === 0 || value.includes('') : value === '';
    if (!isEmpty || !/^[a-z]/.test(name)) continue;
    const isOperand = operands.includes(name);
    // An operand that takes several values may be an empty list, and none may be given.
    if (isOperand && Array.isArray(value) && value.length === 0) continue;
    throw new EvidenceError(
      'usage',
      isOperand ? `the ${name.replace(/s$/, '')} is empty` : `--${name} is given without a value`,
      {
        nextStep: `Give one${isOperand ? '' : `, or leave --${name} out`}. A variable that it was to come from may be empty.`,
      },
    );
  }
}
