import type { CommandTable } from '../../../core/terminal/command-table.ts';
import { archiveFlags, configurationFlags, dryRunFlag, signingFlags } from '../config/flags.ts';

const HOLD = {
  describe: 'place a run on legal hold',
  operands: { run: { required: true, describe: 'a finalized run' } },
  flags: {
    ...configurationFlags,
    ...archiveFlags,
    reason: { required: true, describe: 'reason, kept with the run forever' },
    ...dryRunFlag,
  },
  examples: [
    ["$0 hold 2026-10 --reason 'case 26-114'", 'nobody can delete the run until it is released'],
    ["$0 release 2026-10 --reason 'case 26-114 is closed'", 'lifts the hold; retention stays'],
  ],
} as const satisfies CommandTable;

export const ARCHIVE_COMMANDS = {
  runs: {
    describe: 'list exported runs and their locks, or abandon an unfinished run',
    operands: {
      action: { choices: ['abandon'], describe: 'action to record; without one, runs are listed' },
      run: { describe: 'id of the run to abandon' },
    },
    flags: {
      ...configurationFlags,
      ...archiveFlags,
      ...signingFlags,
      reason: { describe: 'with abandon: reason, kept forever' },
      ...dryRunFlag,
    },
    examples: [
      ['$0 runs', 'period, outcome, size and lock of every run in the archive'],
      ["$0 runs abandon 2026-09 --reason 'started by mistake, ticket OPS-412'", ''],
    ],
  },
  hold: HOLD,
  release: {
    ...HOLD,
    describe: 'lift the legal hold of a run',
    flags: {
      ...HOLD.flags,
      all: { type: 'boolean', describe: 'lift all holds if the run has several' },
    },
  },
  extend: {
    describe: 'extend the lock of a run',
    operands: { run: { required: true, describe: 'a finalized run' } },
    flags: {
      ...configurationFlags,
      ...archiveFlags,
      years: { type: 'number', describe: 'years to keep the run, counted from its end' },
      until: { describe: 'end of the lock: a day or an RFC 3339 time' },
      reason: { required: true, describe: 'reason, kept with the run forever' },
      ...dryRunFlag,
    },
    examples: [
      [
        "$0 extend 2026-10 --years 10 --reason '2027 retention policy' --dry-run",
        'shows what would be locked, and until when',
      ],
      ["$0 extend 2026-10 --years 10 --reason '2027 retention policy'", 'ten years from the end of the run'],
    ],
  },
  share: {
    describe: 'share a run with an auditor, with a letter',
    operands: { run: { required: true, describe: 'a finalized run' } },
    flags: {
      ...configurationFlags,
      ...archiveFlags,
      for: { describe: 'recipient, named in the letter and the record; required for links' },
      expires: { describe: 'lifetime of links, e.g. 12h or 30m (default: 7d, the S3 maximum)' },
      out: { describe: 'write copies to this new folder instead of links; an archive in a folder always needs it' },
      ...dryRunFlag,
    },
    examples: [
      ["$0 share 2026-10 --for 'J. Smith, Example Audit'", 'a letter with links that expire in a week'],
      ['$0 share 2026-10 --out for-the-auditor', 'a letter with copies, verifiable without access to the archive'],
    ],
  },
  restamp: {
    describe: "renew the time-stamps of runs before an authority's certificate expires",
    operands: { run: { describe: 'the run to stamp' } },
    flags: {
      ...configurationFlags,
      ...archiveFlags,
      all: { type: 'boolean', describe: 'every finalized run' },
      within: {
        default: '90d',
        describe: 'only if the certificate of the newest token expires within this many days',
      },
      ...dryRunFlag,
    },
    examples: [
      ['$0 restamp --all', 'stamps the runs whose certificate expires within 90 days; run it monthly'],
      ['$0 restamp 2026-10 --within 400d', 'one run, if its certificate expires within 400 days'],
    ],
  },
  ledger: {
    describe: 'record why a stream ended or restarted, or a new signing key',
    operands: {
      action: { choices: ['accept', 'hand-over'], required: true, describe: 'what to record' },
      stream: { describe: 'with accept: id of the stream; if it starts with -, write --stream=ID' },
    },
    flags: {
      ...configurationFlags,
      ...archiveFlags,
      ...signingFlags,
      reason: { describe: 'with accept: why the stream ended or restarted; kept forever' },
      to: { describe: 'with hand-over: file of the new signing key' },
      'passphrase-file': { describe: "with hand-over: file of the new key's passphrase" },
      ...dryRunFlag,
    },
    examples: [
      ["$0 ledger accept payments --reason 'moved to payments-eu, ticket OPS-411'", ''],
      ['$0 ledger hand-over --to signing-2027.pem', 'the key in sign.key_file hands over to a new one'],
    ],
  },
} as const satisfies Record<string, CommandTable>;
