import { stat } from 'node:fs/promises';
import { EvidenceError } from '../../core/errors.ts';
import { dpkgEvents } from './dpkg.ts';
import { gitCommits } from './git.ts';
import { npmInstalls } from './npm.ts';
import type { ImportResult, ImportTally } from './result.ts';
import { type EventSource, runImport, type ServiceOptions } from './run.ts';
import type { ImportedEntry } from './service.ts';

export interface HostOptions extends ServiceOptions {
  /** The folder whose git history and installed npm packages are recorded. */
  directory: string;
  /** The folder of the system's package log; `/var/log` if not given. */
  logDirectory?: string;
}

/**
 * Records what really happened on this machine: the git history of a checkout, what npm installed, and what dpkg did.
 * A source that is not there is a note in the result. Neither the environment nor any remote's URL is read.
 */
export async function importHost(options: HostOptions): Promise<ImportResult> {
  const folder = await stat(options.directory).catch(() => undefined);
  if (folder?.isDirectory() !== true) {
    throw new EvidenceError('not-found', `there is no folder ${options.directory}`, {
      nextStep: 'Name an existing folder with --directory.',
    });
  }
  return runImport(options, [
    source((tally) => gitCommits(options.directory, tally)),
    source((tally) => npmInstalls(options.directory, tally)),
    source((tally) => dpkgEvents(options.logDirectory ?? '/var/log', tally)),
  ]);
}

function source(events: (tally: ImportTally) => AsyncIterable<ImportedEntry>): EventSource {
  return async (queue, tally) => {
    for await (const entry of events(tally)) await queue.add(entry);
  };
}
