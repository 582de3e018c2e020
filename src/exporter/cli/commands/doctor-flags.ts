import type { Argv } from 'yargs';
import { concurrencyFlags, footingFlags } from '../config/flags.ts';

export function doctorFlags(argv: Argv) {
  return argv
    .options({ ...footingFlags, ...concurrencyFlags })
    .example('$0 doctor', 'checks the archive, the service, every key and root, the authority and the work directory');
}
export type DoctorFlags = Awaited<ReturnType<typeof doctorFlags>['argv']>;
