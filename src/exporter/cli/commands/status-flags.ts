import type { Argv } from 'yargs';
import { configurationFlags } from '../config/flags.ts';

export function statusFlags(argv: Argv) {
  return argv
    .positional('run', { type: 'string', describe: 'the id of a run (default: all that were handed out)' })
    .options({ ...configurationFlags })
    .options({ watch: { type: 'boolean', describe: 'show it until the run has ended, and end with its exit code' } })
    .example('$0 status', 'every distributed run')
    .example('$0 status 2026-10 --watch', 'one of them, live');
}
export type StatusFlags = Awaited<ReturnType<typeof statusFlags>['argv']>;
