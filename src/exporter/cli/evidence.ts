import { EvidenceError } from '../../core/errors.ts';
import { find, type Program } from '../../core/terminal/command-table.ts';
import { asksForJsonLog } from '../../core/terminal/crash.ts';
import { exitCodeOf, exitCodeOfError } from '../../core/terminal/exit.ts';
import { helpOn } from '../../core/terminal/help.ts';
import { type Parsed, parse } from '../../core/terminal/parse.ts';
import { type Output, Printer } from '../../core/terminal/printer.ts';
import { withNextStep } from '../next-steps.ts';
import { type Command, type CommandContext, reasonOfEnd } from './command.ts';
import { COMMANDS, type Load } from './commands.ts';
import { givenWords, keepSecretsOf, refuseMisplaced, secretsOf } from './config/secrets.ts';
import type { Interruption } from './interruption.ts';
import { listOfTopics } from './output/topics.ts';

/** Process that runs a command line; tests provide their own. */
interface ProgramDeps extends Pick<CommandContext, 'directory' | 'environment'> {
  stdout: Output;
  stderr: Output;
  interruption: Pick<Interruption, 'signal' | 'exitCode' | 'endAfter'>;
}

const PROGRAM: Program<Load> = {
  name: 'evidence',
  describe: 'Exports audit evidence from an audit service, proves what can be proved about it, and archives it.',
  flags: {
    json: { type: 'boolean', describe: 'print one JSON document on stdout' },
    quiet: { type: 'boolean', describe: 'hide progress' },
    'log-format': {
      choices: ['text', 'json'],
      describe: 'format of stderr: text (default), or json with one object per line',
    },
    verbose: {
      type: 'boolean',
      alias: 'v',
      describe: 'log every request, retry and step to stderr; list every stream in tables',
    },
  },
  commands: COMMANDS,
  demand: 'Name a command.',
  epilogue: listOfTopics,
};

/**
 * Runs `evidence`.
 * @param words command line without the program's name.
 * @returns the exit code.
 */
export async function evidence(words: readonly string[], deps: ProgramDeps): Promise<number> {
  const { environment, stdout, stderr } = deps;
  // For a script whose command is empty by mistake, 0 would mean that everything is verified.
  if (words.length === 0 && !asksForJsonLog(words, environment)) {
    stderr.write(`${helpOn(find(PROGRAM, []))}\n`);
    return exitCodeOf('usage');
  }
  try {
    checkLogFormat(environment);
    const asked = await parse(PROGRAM, words);
    if (typeof asked !== 'string') return work(asked, deps);
    stdout.write(`${asked}\n`);
    return 0;
  } catch (error) {
    return refuse(error, words, deps);
  }
}

type LogFormat = 'text' | 'json';

/** @throws EvidenceError `usage` for an unknown format. */
function checkLogFormat({ EVIDENCE_LOG_FORMAT: format = 'text' }: NodeJS.ProcessEnv): void {
  if (format === 'json' || format === 'text') return;
  throw new EvidenceError('usage', `EVIDENCE_LOG_FORMAT must be text or json, not "${format}"`);
}

async function work({ work: load, values }: Exclude<Parsed<Load>, string>, deps: ProgramDeps): Promise<number> {
  const { directory, environment, interruption, stdout, stderr } = deps;
  const {
    json = false,
    quiet = false,
    verbose = false,
    logFormat = asksForJsonLog([], environment) ? 'json' : 'text',
  } = values as { json?: boolean; quiet?: boolean; verbose?: boolean; logFormat?: LogFormat };
  const context: CommandContext = {
    printer: new Printer({ json, quiet, verbose, logFormat, replacer: withNextStep, stdout, stderr }),
    signal: interruption.signal,
    directory,
    environment,
    endAfter: interruption.endAfter,
    codeOf: (reason) => interruption.exitCode() ?? exitCodeOfError(reason),
  };
  return carryOut(() => load(PROGRAM), values, context);
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
 */
export async function carryOut<Flags extends object>(
  load: () => Promise<Command<Flags>>,
  flags: Flags,
  context: CommandContext,
): Promise<number> {
  const { printer, signal, environment, codeOf } = context;
  keepSecretsOf(environment, printer);
  try {
    refuseMisplaced(givenWords(flags, environment, {}), secretsOf(environment));
    return await (await load())(flags, context);
  } catch (error) {
    const reason = reasonOfEnd(error, signal);
    printer.failure(reason);
    return codeOf(reason);
  }
}
