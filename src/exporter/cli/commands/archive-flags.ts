import type { CommandTable } from '../../../core/terminal/command-table.ts';
import { archiveFlags, configurationFlags, dryRunFlag, signingFlags } from '../config/flags.ts';

const HOLD = {
  describe: 'put a run on legal hold',
  operands: { run: { required: true, describe: 'a finalized run' } },
  flags: {
    ...configurationFlags,
    ...archiveFlags,
    reason: { required: true, describe: 'why; kept with the run for ever' },
    ...dryRunFlag,
  },
  examples: [
    ["$0 hold 2026-10 --reason 'case 26-114'", 'nobody can delete it until it is released'],
    ["$0 release 2026-10 --reason 'case 26-114 is closed'", 'takes the hold away; retention stays'],
  ],
} as const satisfies CommandTable;

export const ARCHIVE_COMMANDS = {
  runs: {
    describe: 'what was exported so far, and how long it is locked; give up a run that was begun',
    operands: {
      action: { choices: ['abandon'], describe: 'what to record; nothing lists the runs' },
      run: { describe: 'the id of the run that nobody goes on with' },
    },
    flags: {
      ...configurationFlags,
      ...archiveFlags,
      ...signingFlags,
      reason: { describe: 'with abandon: why nobody goes on with it; kept for ever' },
      ...dryRunFlag,
    },
    examples: [
      ['$0 runs', 'period, outcome, size and lock of every run in the archive'],
      ["$0 runs abandon 2026-09 --reason 'begun by mistake, ticket OPS-412'", ''],
    ],
  },
  hold: HOLD,
  release: {
    ...HOLD,
    describe: 'lift the legal hold of a run',
    flags: {
      ...HOLD.flags,
      all: { type: 'boolean', describe: 'take all holds of the run away, where there are several' },
    },
  },
  extend: {
    describe: 'lock a run for longer',
    operands: { run: { required: true, describe: 'a finalized run' } },
    flags: {
      ...configurationFlags,
      ...archiveFlags,
      years: { type: 'number', describe: 'how many years after its end the run is to be kept' },
      until: { describe: 'until when: a day or an RFC 3339 time' },
      reason: { required: true, describe: 'why; kept with the run for ever' },
      ...dryRunFlag,
    },
    examples: [
      ["$0 extend 2026-10 --years 10 --reason 'new policy of 2027' --dry-run", 'what would be locked, and until when'],
      ["$0 extend 2026-10 --years 10 --reason 'new policy of 2027'", 'ten years from the end of the run'],
    ],
  },
  share: {
    describe: 'hand a run to an auditor, with a letter',
    operands: { run: { required: true, describe: 'a finalized run' } },
    flags: {
      ...configurationFlags,
      ...archiveFlags,
      for: { describe: 'who gets it; stands in the letter and in the record. Links are made for somebody only' },
      expires: { describe: 'when links end: 7d (the default, and the most that S3 allows), 12h, 30m' },
      out: { describe: 'copies into this new folder, and no links; always so for an archive in a folder' },
      ...dryRunFlag,
    },
    examples: [
      ["$0 share 2026-10 --for 'J. Smith, Example Audit'", 'a letter with links that end in a week'],
      ['$0 share 2026-10 --out for-the-auditor', 'a letter with copies, to verify without access to the archive'],
    ],
  },
  restamp: {
    describe: "renew the time-stamps of runs before an authority's certificate ends",
    operands: { run: { describe: 'the run to stamp' } },
    flags: {
      ...configurationFlags,
      ...archiveFlags,
      all: { type: 'boolean', describe: 'every finalized run' },
      within: {
        default: '90d',
        describe: 'only where the certificate behind the newest token ends within so many days',
      },
      ...dryRunFlag,
    },
    examples: [
      ['$0 restamp --all', 'what needs it within 90 days; once a month is enough'],
      ['$0 restamp 2026-10 --within 400d', 'one run, if its certificate ends within 400 days'],
    ],
  },
  ledger: {
    describe: 'record why a stream was ended or began anew, or a new signing key',
    operands: {
      action: { choices: ['accept', 'hand-over'], required: true, describe: 'what to record' },
      stream: { describe: 'of accept: the id of the stream; one that begins with - as --stream=ID' },
    },
    flags: {
      ...configurationFlags,
      ...archiveFlags,
      ...signingFlags,
      reason: { describe: 'of accept: why it was ended or began anew; kept for ever' },
      to: { describe: 'of hand-over: file of the new signing key' },
      'passphrase-file': { describe: 'of hand-over: file of the passphrase of the new key' },
      ...dryRunFlag,
    },
    examples: [
      ["$0 ledger accept payments --reason 'moved to payments-eu, ticket OPS-411'", ''],
      ['$0 ledger hand-over --to signing-2027.pem', 'the key in sign.key_file hands over to a new one'],
    ],
  },
} as const satisfies Record<string, CommandTable>;
