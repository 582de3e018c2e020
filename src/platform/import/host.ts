import { stat } from 'node:fs/promises';
import { EvidenceError } from '../../core/errors.ts';
import { dpkgEvents } from './dpkg.ts';
import { gitCommits } from './git.ts';
import { npmInstalls } from './npm.ts';
import type { ImportResult, ImportTally } from './result.ts';
import { type EventSource, runImport, type ServiceOptions } from './run.ts';
import type { ImportedEntry } from './service.ts';

export interface HostOptions extends ServiceOptions {
  /** Folder whose git history and installed npm packages are recorded. */
  directory: string;
  /** Folder of the system's package log; `/var/log` by default. */
  logDirectory?: string;
}

/**
 * Records real events of this machine: the git history of a checkout, installations by npm, and actions of dpkg. A
 * missing source becomes a note in the result. Reads neither the environment nor the URLs of remotes.
 */
export async function importHost(options: HostOptions): Promise<ImportResult> {
  const folder = await stat(options.directory).catch(() => undefined);
  if (folder?.isDirectory() !== true)
    throw new EvidenceError('not-found', `the folder ${options.directory} does not exist`, {
      nextStep: 'Specify an existing folder with --directory.',
    });
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
