import process from 'node:process';
import { isEvidenceError } from '../core/errors.ts';
import { find, type Program } from '../core/terminal/command-table.ts';
import { DEFECT } from '../core/terminal/crash.ts';
import { exitCodeOf } from '../core/terminal/exit.ts';
import { helpOn } from '../core/terminal/help.ts';
import { parse } from '../core/terminal/parse.ts';
import { clockCommands } from './commands/clock.ts';
import type { Work } from './commands/command.ts';
import { deployCommand } from './commands/deploy.ts';
import { backupCommand, initCommand, serveCommand } from './commands/folder.ts';
import { fsckCommand } from './commands/fsck.ts';
import { helpCommand, listOfPlatformTopics } from './commands/help.ts';
import { importCommands } from './commands/import.ts';
import { keysCommands } from './commands/keys.ts';
import { packagesCommands } from './commands/packages.ts';
import { peopleCommands } from './commands/people.ts';
import { sealKeysCommands } from './commands/seal-keys.ts';
import { DATABASE_AWAY, DatabaseAway } from './setup.ts';

const PROGRAM: Program<Work> = {
  name: 'evidence-platform',
  commands: {
    init: initCommand,
    serve: serveCommand,
    ...keysCommands,
    ...peopleCommands,
    ...packagesCommands,
    ...sealKeysCommands,
    ...clockCommands,
    backup: backupCommand,
    fsck: fsckCommand,
    ...importCommands,
    deploy: deployCommand,
    help: helpCommand,
  },
  demand: 'Choose a command.',
  epilogue: listOfPlatformTopics,
};

/** Runs a command line of `evidence-platform`. @returns the exit code. */
export async function evidencePlatform(args: string[]): Promise<number> {
  // npm runs scripts in the package's folder, but paths are relative to the user's folder.
  const { npm_lifecycle_event: script, INIT_CWD: userFolder } = process.env;
  if (script === 'platform' && userFolder) process.chdir(userFolder);
  if (args.length === 0) {
    process.stderr.write(`${helpOn(find(PROGRAM, []))}\n`);
    return exitCodeOf('usage');
  }
  try {
    const asked = await parse(PROGRAM, args);
    if (typeof asked === 'string') process.stdout.write(`${asked}\n`);
    else await asked.work(asked.values, PROGRAM);
    return 0;
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): number {
  if (isEvidenceError(error)) {
    const next = error.nextStep === undefined ? '' : `\n${error.nextStep}`;
    process.stderr.write(`${error.message}${next}\n`);
    return error instanceof DatabaseAway ? DATABASE_AWAY : exitCodeOf(error.code);
  }
  // A missing package is explained by the importer of this program.
  if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') throw error;
  process.stderr.write(`This is a defect of evidence-platform: ${error instanceof Error ? error.stack : error}\n`);
  return DEFECT;
}
