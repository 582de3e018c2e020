import type { CommandTable } from '../../../core/terminal/command-table.ts';
import {
  archiveFlags,
  concurrencyFlags,
  configurationFlags,
  footingFlags,
  serviceFlags,
  signingFlags,
} from '../config/flags.ts';

export const EXPORT_COMMANDS = {
  export: {
    describe: 'export a period into the archive',
    flags: {
      ...footingFlags,
      ...signingFlags,
      ...concurrencyFlags,
      period: { describe: 'a month, e.g. 2026-10 (default: the last whole month, UTC)' },
      from: { describe: 'first moment of the period: a day or an RFC 3339 time' },
      to: { describe: 'end of the period, not included' },
      'all-time': { type: 'boolean', describe: 'everything there is' },
      stream: { array: true, describe: 'only streams that match one of these globs' },
      exclude: { array: true, describe: 'no stream that matches one of these globs' },
      request: { describe: "id of an auditor's request; names the run" },
      'requested-by': { describe: 'who asked, for the record' },
      missing: {
        type: 'boolean',
        describe: 'every month that has ended and is not whole in the archive, the oldest first',
      },
      revise: { type: 'boolean', describe: 'export again what is finalized, as a new revision' },
      'service-moved': {
        type: 'boolean',
        describe: 'the service of this archive has another address now; to be said once',
      },
      'finalize-partial': {
        type: 'boolean',
        describe: 'finalize the run even if something is missing, labelled PARTIAL',
      },
      deadline: { describe: 'end after so long, e.g. 90s, 45m, 6h; the same command resumes (default: none)' },
      distributed: { type: 'boolean', describe: 'leave the streams to workers (`evidence worker`), and wait for them' },
      'dry-run': { type: 'boolean', describe: 'say what would be exported and what would stop it; touch nothing' },
    },
    examples: [
      ['$0 export --period 2026-10', 'October 2026, into ./evidence-archive'],
      ["$0 export --all-time --stream 'prod/*'", 'everything of some streams'],
    ],
  },
  streams: {
    describe: "the service's streams",
    flags: { ...configurationFlags, ...serviceFlags, ...archiveFlags },
    examples: [['$0 streams', 'what the service has, and what of it was exported']],
  },
  worker: {
    describe: 'export streams of distributed runs',
    flags: {
      ...footingFlags,
      ...concurrencyFlags,
      'until-idle': { type: 'boolean', describe: 'end once no run is under way (default: wait for the next one)' },
    },
    examples: [
      ['$0 worker', 'take streams of distributed runs until it is terminated'],
      ['$0 worker --until-idle --concurrency 8', 'for a batch system'],
    ],
  },
  status: {
    describe: 'show the progress of distributed runs',
    operands: { run: { describe: 'the id of a run (default: all that were handed out)' } },
    flags: {
      ...configurationFlags,
      watch: { type: 'boolean', describe: 'show it until the run has ended, and end with its exit code' },
    },
    examples: [
      ['$0 status', 'every distributed run'],
      ['$0 status 2026-10 --watch', 'one of them, live'],
    ],
  },
} as const satisfies Record<string, CommandTable>;
