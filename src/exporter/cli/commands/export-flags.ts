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
      period: { describe: 'a month, e.g. 2026-10 (default: the last full month, UTC)' },
      from: { describe: 'start of the period: a day or an RFC 3339 time' },
      to: { describe: 'end of the period, exclusive' },
      'all-time': { type: 'boolean', describe: 'all entries of all time' },
      stream: { array: true, describe: 'include only streams that match these globs' },
      exclude: { array: true, describe: 'exclude streams that match these globs' },
      request: { describe: "id of an auditor's request, used as the name of the run" },
      'requested-by': { describe: 'requester, for the record' },
      missing: {
        type: 'boolean',
        describe: 'export every past month that is missing or incomplete in the archive, oldest first',
      },
      revise: { type: 'boolean', describe: 'export a finalized run again, as a new revision' },
      'service-moved': {
        type: 'boolean',
        describe: 'the service of this archive has a new address; give this flag once',
      },
      'finalize-partial': {
        type: 'boolean',
        describe: 'finalize the run even if something is missing, labeled PARTIAL',
      },
      deadline: { describe: 'stop after this time, e.g. 90s, 45m, 6h; the same command resumes (default: none)' },
      distributed: {
        type: 'boolean',
        describe: 'let workers (`evidence worker`) export the streams, and wait for them',
      },
      'dry-run': { type: 'boolean', describe: 'show what would be exported and what would prevent it; change nothing' },
    },
    examples: [
      ['$0 export --period 2026-10', 'October 2026, into ./evidence-archive'],
      ["$0 export --all-time --stream 'prod/*'", 'all entries of some streams'],
    ],
  },
  streams: {
    describe: "the service's streams",
    flags: { ...configurationFlags, ...serviceFlags, ...archiveFlags },
    examples: [['$0 streams', 'streams of the service, and how far each was exported']],
  },
  worker: {
    describe: 'export streams of distributed runs',
    flags: {
      ...footingFlags,
      ...concurrencyFlags,
      'until-idle': { type: 'boolean', describe: 'exit when no run is in progress (default: wait for the next one)' },
    },
    examples: [
      ['$0 worker', 'exports streams of distributed runs until terminated'],
      ['$0 worker --until-idle --concurrency 8', 'for a batch system'],
    ],
  },
  status: {
    describe: 'show the progress of distributed runs',
    operands: { run: { describe: 'id of a run (default: all distributed runs)' } },
    flags: {
      ...configurationFlags,
      watch: { type: 'boolean', describe: 'follow the run until it ends, and exit with its code' },
    },
    examples: [
      ['$0 status', 'every distributed run'],
      ['$0 status 2026-10 --watch', 'one of them, live'],
    ],
  },
} as const satisfies Record<string, CommandTable>;
