import type { Argv } from 'yargs';
import { concurrencyFlags, footingFlags } from '../config/flags.ts';

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
