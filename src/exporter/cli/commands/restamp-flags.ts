import type { Argv } from 'yargs';
import { archiveFlags, configurationFlags, dryRunFlag } from '../config/flags.ts';

export function restampFlags(argv: Argv) {
  return argv
    .positional('run', { type: 'string', describe: 'the run to stamp' })
    .options({ ...configurationFlags, ...archiveFlags })
    .options({
      all: { type: 'boolean', describe: 'every finalized run' },
      within: {
        type: 'string',
        default: '90d',
        describe: 'only where the certificate behind the newest token ends within so many days',
      },
      ...dryRunFlag,
    })
    .example('$0 restamp --all', 'what needs it within 90 days; once a month is enough')
    .example('$0 restamp 2026-10 --within 400d', 'one run, if its certificate ends within 400 days');
}
export type RestampFlags = Awaited<ReturnType<typeof restampFlags>['argv']>;
