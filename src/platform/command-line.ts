import process from 'node:process';
import yargs, { type Argv } from 'yargs';
import { isEvidenceError } from '../core/errors.ts';
import { readManifest } from '../core/install-paths.ts';
import { DEFECT } from '../core/terminal/crash.ts';
import { exitCodeOf } from '../core/terminal/exit.ts';
import { refuseTwice } from '../core/terminal/given-once.ts';
import { parseSaying } from '../core/terminal/help.ts';
import { deployCommand } from './commands/deploy.ts';
import { backupCommand, initCommand, serveCommand } from './commands/folder.ts';
import { helpCommand, listOfPlatformTopics } from './commands/help.ts';
import { keysCommand } from './commands/keys.ts';
import { packagesCommand } from './commands/packages.ts';
import { peopleCommand } from './commands/people.ts';
import { sealKeysCommand } from './commands/seal-keys.ts';
import { importCommand } from './import/command.ts';

class UsageError extends Error {}

/** Carries out a command line of `evidence-platform`. @returns its exit code. */
export async function evidencePlatform(args: string[]): Promise<number> {
  // npm runs scripts in the package's folder; paths are meant from where the user stands.
  const { npm_lifecycle_event: script, INIT_CWD: userFolder } = process.env;
  if (script === 'platform' && userFolder) process.chdir(userFolder);
  try {
    const said = await parseSaying(makeParser(args), args, listOfPlatformTopics);
    if (said !== '') process.stdout.write(`${said}\n`);
    return 0;
  } catch (error) {
    return explain(error instanceof UsageError ? await answer(error, args) : error);
  }
}

function makeParser(args: string[]): Argv {
  return (
    refuseTwice(yargs(args))
      .scriptName('evidence-platform')
      .wrap(null)
      // All else that is printed is English.
      .locale('en')
      .command(initCommand)
      .command(serveCommand)
      .command(keysCommand)
      .command(peopleCommand)
      .command(packagesCommand)
      .command(sealKeysCommand)
      .command(backupCommand)
      .command(importCommand)
      .command(deployCommand)
      .command(helpCommand(helpOnCommand))
      .demandCommand(1, 'Name a command.')
      .strict()
      .alias({ h: 'help', V: 'version' })
      .version(readManifest().version)
      // The text that was printed is to arrive before the program ends.
      .exitProcess(false)
      .fail((message, error) => {
        // Complaints of yargs itself come without an error, with a text, or with an error that it does not export.
        if (!(error instanceof Error) || error.name === 'YError') throw new UsageError(message);
        throw error;
      })
  );
}

/** Returns what `--help` says of a command; of the program for null. */
async function helpOnCommand(command: string | null): Promise<string> {
  const { helpOn } = await import('../core/terminal/usage.ts');
  return helpOn(makeParser([]), command, listOfPlatformTopics);
}

/** Returns the error for a complaint of the parser; a bare call is answered with the help. */
async function answer({ message }: UsageError, words: string[]): Promise<Error> {
  if (words.length === 0) return new UsageError(await helpOnCommand(null));
  const { toUsageError } = await import('../core/terminal/usage.ts');
  return toUsageError(message, { program: 'evidence-platform', words, helpOn: helpOnCommand });
}

function explain(error: unknown): number {
  if (isEvidenceError(error)) {
    const next = error.nextStep === undefined ? '' : `\n${error.nextStep}`;
    process.stderr.write(`${error.message}${next}\n`);
    return exitCodeOf(error.code);
  }
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n`);
    return exitCodeOf('usage');
  }
  // A package that is not installed: whoever imported this program says what to do.
  if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') throw error;
  process.stderr.write(`This is a defect of evidence-platform: ${error instanceof Error ? error.stack : error}\n`);
  return DEFECT;
}
