import type { Argv } from 'yargs';
import { archiveFlags, configurationFlags, dryRunFlag } from '../config/flags.ts';

export function holdFlags(argv: Argv) {
  return argv
    .positional('run', { type: 'string', demandOption: true, describe: 'a finalized run' })
    .options({ ...configurationFlags, ...archiveFlags })
    .options({
      reason: { type: 'string', demandOption: true, describe: 'why; kept with the run for ever' },
      ...dryRunFlag,
    })
    .example("$0 hold 2026-10 --reason 'case 26-114'", 'nobody can delete it until it is released')
    .example("$0 release 2026-10 --reason 'case 26-114 is closed'", 'takes the hold away; retention stays');
}
export function releaseFlags(argv: Argv) {
  return holdFlags(argv).options({
    all: { type: 'boolean', describe: 'take all holds of the run away, where there are several' },
  });
}
export type ReleaseFlags = Awaited<ReturnType<typeof releaseFlags>['argv']>;

export type HoldFlags = Awaited<ReturnType<typeof holdFlags>['argv']>;

export function extendFlags(argv: Argv) {
  return argv
    .positional('run', { type: 'string', demandOption: true, describe: 'a finalized run' })
    .options({ ...configurationFlags, ...archiveFlags })
    .options({
      years: { type: 'number', describe: 'how many years after its end the run is to be kept' },
      until: { type: 'string', describe: 'until when: a day or an RFC 3339 time' },
      reason: { type: 'string', demandOption: true, describe: 'why; kept with the run for ever' },
      ...dryRunFlag,
    })
    .example(
      "$0 extend 2026-10 --years 10 --reason 'new policy of 2027' --dry-run",
      'what would be locked, and until when',
    )
    .example("$0 extend 2026-10 --years 10 --reason 'new policy of 2027'", 'ten years from the end of the run');
}
export type ExtendFlags = Awaited<ReturnType<typeof extendFlags>['argv']>;
