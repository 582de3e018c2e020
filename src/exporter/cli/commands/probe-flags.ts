import type { Argv } from 'yargs';
import { configurationFlags, serviceFlags, trustFlags } from '../config/flags.ts';

export function probeFlags(argv: Argv) {
  return argv
    .options({ ...configurationFlags, ...serviceFlags, 'seal-key': trustFlags['seal-key'] })
    .options({
      out: { type: 'string', describe: 'the contract file to write (default: contract.yaml)' },
      generate: { type: 'boolean', describe: 'may have the service make one evidence package, to see its form' },
      'search-seconds': {
        type: 'number',
        describe: 'seconds of processor time to search for the recipe of the digests (default: 20)',
      },
      force: { type: 'boolean', describe: 'replace a contract file that says something else' },
    })
    .example('$0 probe', 'only reads, and writes contract.yaml')
    .example('$0 probe --generate --seal-key k1=k1.key', 'sees a package too, and tries HMACs');
}
export type ProbeFlags = Awaited<ReturnType<typeof probeFlags>['argv']>;
