import type { Argv } from 'yargs';
import { archiveFlags, configurationFlags, serviceFlags } from '../config/flags.ts';

export function streamsFlags(argv: Argv) {
  return argv
    .options({ ...configurationFlags, ...serviceFlags, ...archiveFlags })
    .example('$0 streams', 'what the service has, and what of it was exported');
}
export type StreamsFlags = Awaited<ReturnType<typeof streamsFlags>['argv']>;
