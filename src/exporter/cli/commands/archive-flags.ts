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

export function ledgerFlags(argv: Argv) {
  return argv
    .positional('action', { choices: ['accept', 'hand-over'] as const, demandOption: true, describe: 'what to record' })
    .positional('stream', {
      type: 'string',
      describe: 'of accept: the id of the stream; one that begins with - as --stream=ID',
    })
    .options({ ...configurationFlags, ...archiveFlags, ...signingFlags })
    .options({
      reason: { type: 'string', describe: 'of accept: why it was ended or began anew; kept for ever' },
      to: { type: 'string', describe: 'of hand-over: file of the new signing key' },
      'passphrase-file': { type: 'string', describe: 'of hand-over: file of the passphrase of the new key' },
      ...dryRunFlag,
    })
    .example("$0 ledger accept payments --reason 'moved to payments-eu, ticket OPS-411'", '')
    .example('$0 ledger hand-over --to signing-2027.pem', 'the key in sign.key_file hands over to a new one');
}
export type LedgerFlags = Awaited<ReturnType<typeof ledgerFlags>['argv']>;
