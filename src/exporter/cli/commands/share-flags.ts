import type { Argv } from 'yargs';
import { archiveFlags, configurationFlags, dryRunFlag } from '../config/flags.ts';

export function shareFlags(argv: Argv) {
  return argv
    .positional('run', { type: 'string', demandOption: true, describe: 'a finalized run' })
    .options({ ...configurationFlags, ...archiveFlags })
    .options({
      for: {
        type: 'string',
        describe: 'who gets it; stands in the letter and in the record. Links are made for somebody only',
      },
      expires: { type: 'string', describe: 'when links end: 7d (the default, and the most that S3 allows), 12h, 30m' },
      out: {
        type: 'string',
        describe: 'copies into this new folder, and no links; always so for an archive in a folder',
      },
      ...dryRunFlag,
    })
    .example("$0 share 2026-10 --for 'J. Smith, Example Audit'", 'a letter with links that end in a week')
    .example('$0 share 2026-10 --out for-the-auditor', 'a letter with copies, to verify without access to the archive');
}
export type ShareFlags = Awaited<ReturnType<typeof shareFlags>['argv']>;
