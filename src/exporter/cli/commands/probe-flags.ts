import type { Argv } from 'yargs';
import { configurationFlags, serviceFlags, trustFlags } from '../config/flags.ts';

export function probeFlags(argv: Argv) {
  return argv
    .options({ ...configurationFlags, ...serviceFlags, 'seal-key': trustFlags['seal-key'] })
    .options({
      out: { type: 'string', describe: 'the contract file to write (default: contract.yaml)' },
      generate: { type: 'boolean', describe: 'may have the service make one evidence package, to see its form' },
      force: { type: 'boolean', describe: 'replace a contract file that says something else' },
    })
    .example('$0 probe', 'only reads, and writes contract.yaml')
    .example('$0 probe --generate --seal-key k1=k1.key', 'sees a package too, and tries HMACs');
}
export type ProbeFlags = Awaited<ReturnType<typeof probeFlags>['argv']>;
