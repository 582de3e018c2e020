import type { Argv } from 'yargs';
import { archiveFlags, configurationFlags } from '../config/flags.ts';

export function runsFlags(argv: Argv) {
  return argv
    .options({ ...configurationFlags, ...archiveFlags })
    .example('$0 runs', 'period, outcome, size and lock of every run in the archive');
}
export type RunsFlags = Awaited<ReturnType<typeof runsFlags>['argv']>;
