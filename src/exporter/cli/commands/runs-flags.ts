import type { Argv } from 'yargs';
import { archiveFlags, configurationFlags, dryRunFlag, signingFlags } from '../config/flags.ts';

export function runsFlags(argv: Argv) {
  return argv
    .positional('action', { choices: ['abandon'] as const, describe: 'what to record; nothing lists the runs' })
    .positional('run', { type: 'string', describe: 'the id of the run that nobody goes on with' })
    .options({ ...configurationFlags, ...archiveFlags, ...signingFlags })
    .options({
      reason: { type: 'string', describe: 'with abandon: why nobody goes on with it; kept for ever' },
      ...dryRunFlag,
    })
    .example('$0 runs', 'period, outcome, size and lock of every run in the archive')
    .example("$0 runs abandon 2026-09 --reason 'begun by mistake, ticket OPS-412'", '');
}
export type RunsFlags = Awaited<ReturnType<typeof runsFlags>['argv']>;
