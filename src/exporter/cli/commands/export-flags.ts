import type { Argv } from 'yargs';
import {
  archiveFlags,
  concurrencyFlags,
  configurationFlags,
  footingFlags,
  serviceFlags,
  signingFlags,
} from '../config/flags.ts';

export function exportFlags(argv: Argv) {
  return argv
    .options({ ...footingFlags, ...signingFlags, ...concurrencyFlags })
    .options({
      period: { type: 'string', describe: 'a month, e.g. 2026-10 (default: the last whole month, UTC)' },
      from: { type: 'string', describe: 'first moment of the period: a day or an RFC 3339 time' },
      to: { type: 'string', describe: 'end of the period, not included' },
      'all-time': { type: 'boolean', describe: 'everything there is' },
      stream: { type: 'string', array: true, describe: 'only streams that match one of these globs' },
      exclude: { type: 'string', array: true, describe: 'no stream that matches one of these globs' },
      request: { type: 'string', describe: "id of an auditor's request; names the run" },
      'requested-by': { type: 'string', describe: 'who asked, for the record' },
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
      deadline: {
        type: 'string',
        describe: 'end after so long, e.g. 90s, 45m, 6h; the same command resumes (default: none)',
      },
      distributed: {
        type: 'boolean',
        describe: 'leave the streams to workers (`evidence worker`), and wait for them',
      },
      'dry-run': { type: 'boolean', describe: 'say what would be exported and what would stop it; touch nothing' },
    })
    .example('$0 export --period 2026-10', 'October 2026, into ./evidence-archive')
    .example("$0 export --all-time --stream 'prod/*'", 'everything of some streams');
}
export type ExportFlags = Awaited<ReturnType<typeof exportFlags>['argv']>;

export function streamsFlags(argv: Argv) {
  return argv
    .options({ ...configurationFlags, ...serviceFlags, ...archiveFlags })
    .example('$0 streams', 'what the service has, and what of it was exported');
}
export type StreamsFlags = Awaited<ReturnType<typeof streamsFlags>['argv']>;

export function workerFlags(argv: Argv) {
  return argv
    .options({ ...footingFlags, ...concurrencyFlags })
    .options({
      'until-idle': { type: 'boolean', describe: 'end once no run is under way (default: wait for the next one)' },
    })
    .example('$0 worker', 'take streams of distributed runs until it is terminated')
    .example('$0 worker --until-idle --concurrency 8', 'for a batch system');
}
export type WorkerFlags = Awaited<ReturnType<typeof workerFlags>['argv']>;

export function statusFlags(argv: Argv) {
  return argv
    .positional('run', { type: 'string', describe: 'the id of a run (default: all that were handed out)' })
    .options({ ...configurationFlags })
    .options({ watch: { type: 'boolean', describe: 'show it until the run has ended, and end with its exit code' } })
    .example('$0 status', 'every distributed run')
    .example('$0 status 2026-10 --watch', 'one of them, live');
}
export type StatusFlags = Awaited<ReturnType<typeof statusFlags>['argv']>;
