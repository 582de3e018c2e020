import yargs, { type Argv } from 'yargs';
import { EvidenceError } from '../../core/errors.ts';
import { asksForJsonLog } from '../../core/terminal/crash.ts';
import { exitCodeOf, exitCodeOfError } from '../../core/terminal/exit.ts';
import { refuseTwice } from '../../core/terminal/given-once.ts';
import { parseSaying } from '../../core/terminal/help.ts';
import { type Output, Printer } from '../../core/terminal/printer.ts';
import { type Command, type CommandContext, reasonOfEnd } from './command.ts';
import { COMMANDS, type CommandRow, type HelpOn } from './commands.ts';
import { givenWords, keepSecretsOf, refuseMisplaced, secretsOf } from './config/secrets.ts';
import { readTool } from './config/tool.ts';
import type { Interruption } from './interruption.ts';
import { listOfTopics } from './output/topics.ts';

/** Process that runs a command line; tests provide their own. */
interface ProgramDeps extends Pick<CommandContext, 'directory' | 'environment'> {
  stdout: Output;
  stderr: Output;
  interruption: Pick<Interruption, 'signal' | 'exitCode' | 'endAfter'>;
}

/** Command selected by the command line, and its flags as parsed. */
type Chosen = CommandRow & { given: object };

/** Thrown by a handler to leave the parser, which would otherwise format the command's help before the work begins. */
class Choice extends Error {
  readonly chosen: Chosen;

  constructor(chosen: Chosen) {
    super('a command was chosen');
    this.chosen = chosen;
  }
}

/** Usage error reported by the parser. */
class Complaint extends Error {}

const helpOn: HelpOn = async (command) => {
  const usage = await import('../../core/terminal/usage.ts');
  return usage.helpOn(makeParser(), command, listOfTopics);
};

/**
 * Runs `evidence`.
 * @param words command line without the program's name.
 * @returns the exit code.
 */
export async function evidence(words: readonly string[], deps: ProgramDeps): Promise<number> {
  try {
    checkLogFormat(deps.environment);
    const said = await parseSaying(makeParser(), words, listOfTopics);
    if (said !== '') deps.stdout.write(`${said}\n`);
    return 0;
  } catch (error) {
    if (error instanceof Choice) return work(error.chosen, deps);
    return error instanceof Complaint ? answer(error, words, deps) : refuse(error, words, deps);
  }
}

/** Creates a parser. A parser cannot be used again after it has reported an error. */
function makeParser(): Argv {
  const parser = yargs([])
    .scriptName('evidence')
    .wrap(null)
    // All other output is English.
    .locale('en')
    .usage(
      '$0 <command>\n\nTakes audit evidence out of an audit service, proves what can be proved about it, archives it.',
    )
    .options({
      json: { type: 'boolean', global: true, describe: 'one JSON document on stdout' },
      quiet: { type: 'boolean', global: true, describe: 'no progress' },
      'log-format': {
        choices: ['text', 'json'] as const,
        global: true,
        describe: 'format of stderr: text (default), or json with one object per line',
      },
      verbose: {
        type: 'boolean',
        global: true,
        alias: 'v',
        describe: 'every request, retry and step on stderr; every stream in tables',
      },
    })
    .alias({ h: 'help', V: 'version' });
  for (const row of COMMANDS)
    parser.command(row.usage, row.describe, row.flags, (given: object) => {
      throw new Choice({ ...row, given });
    });
  return refuseTwice(parser)
    .demandCommand(1, 'Name a command.')
    .strict()
    .version(readTool().version)
    .exitProcess(false)
    .fail((message, error) => {
      // Rethrown for the caller to handle once. The parser's own errors arrive as text without an error, or as an error
      // whose class is not exported.
      throw error instanceof Error && error.name !== 'YError' ? error : new Complaint(message);
    });
}

type LogFormat = 'text' | 'json';

/** @throws EvidenceError `usage` for an unknown format. */
function checkLogFormat({ EVIDENCE_LOG_FORMAT: format = 'text' }: NodeJS.ProcessEnv): void {
  if (format === 'json' || format === 'text') return;
  throw new EvidenceError('usage', `EVIDENCE_LOG_FORMAT is neither text nor json: "${format}"`);
}

async function work({ given, load, operands }: Chosen, deps: ProgramDeps): Promise<number> {
  const { directory, environment, interruption, stdout, stderr } = deps;
  const {
    json = false,
    quiet = false,
    verbose = false,
    logFormat = asksForJsonLog([], environment) ? 'json' : 'text',
  } = given as { json?: boolean; quiet?: boolean; verbose?: boolean; logFormat?: LogFormat };
  const context: CommandContext = {
    printer: new Printer({ json, quiet, verbose, logFormat, stdout, stderr }),
    signal: interruption.signal,
    directory,
    environment,
    endAfter: interruption.endAfter,
    codeOf: (reason) => interruption.exitCode() ?? exitCodeOfError(reason),
  };
  return carryOut(() => load({ helpOn }), given, context, operands);
}

/**
 * Reports a usage error. An empty command line gets the help and exit code 2: for a script whose command is empty by
 * mistake, 0 would mean that everything is verified.
 */
async function answer({ message }: Complaint, words: readonly string[], deps: ProgramDeps): Promise<number> {
  if (words.length === 0 && !asksForJsonLog(words, deps.environment)) {
    deps.stderr.write(`${await helpOn(null)}\n`);
    return exitCodeOf('usage');
  }
  const { toUsageError } = await import('../../core/terminal/usage.ts');
  return refuse(await toUsageError(message, { program: 'evidence', words, helpOn }), words, deps);
}

function refuse(error: unknown, words: readonly string[], { environment, stdout, stderr }: ProgramDeps): number {
  const logFormat = asksForJsonLog(words, environment) ? 'json' : 'text';
  const printer = new Printer({ json: words.includes('--json'), quiet: false, logFormat, stdout, stderr });
  keepSecretsOf(environment, printer);
  printer.failure(error);
  return exitCodeOfError(error);
}

/**
 * Runs a command and returns its exit code, whatever fails. Secrets of the environment are neither printed nor accepted
 * in flags.
 *
 * @param operands names of the positional arguments.
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

/** Refuses a flag without a value or with an empty one, because it would silently mean something else than intended. */
function refuseEmpty(flags: object, operands: readonly string[]): void {
  for (const [name, value] of Object.entries(flags)) {
    const isEmpty = Array.isArray(value) ? value.length === 0 || value.includes('') : value === '';
    if (!isEmpty || !/^[a-z]/.test(name)) continue;
    const isOperand = operands.includes(name);
    // A positional list may be empty.
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
