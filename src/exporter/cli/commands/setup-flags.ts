import type { Argv } from 'yargs';
import {
  archiveFlags,
  concurrencyFlags,
  configurationFlags,
  footingFlags,
  serviceFlags,
  trustFlags,
  workDirectoryFlags,
} from '../config/flags.ts';

export function initFlags(argv: Argv) {
  return argv
    .options({ ...archiveFlags, 'audit-url': serviceFlags['audit-url'] })
    .options({
      mode: {
        choices: ['compliance', 'governance'] as const,
        default: 'compliance' as const,
        describe: 'kind of lock in S3',
      },
      years: { type: 'number', default: 7, describe: 'how long evidence is locked in S3' },
      'legal-hold': { type: 'boolean', describe: 'let the writer put what it stores on legal hold' },
      region: { type: 'string', describe: 'region of the bucket' },
      'kms-key': { type: 'string', describe: 'ARN of the key that S3 encrypts with' },
      cron: { type: 'boolean', describe: 'write deploy/crontab, which exports every month' },
      systemd: { type: 'boolean', describe: 'write services and timers, which export every month' },
      kubernetes: { type: 'boolean', describe: 'write deploy/cronjob.yaml, which exports every month' },
    })
    .example('$0 init --archive s3://acme-evidence/prod', 'evidence.yaml, and policies for the bucket in deploy/')
    .example('$0 init --systemd', 'a timer for the evidence.yaml of this folder, which is made where there is none');
}
export type InitFlags = Awaited<ReturnType<typeof initFlags>['argv']>;

export function demoFlags(argv: Argv) {
  return argv
    .options({ archive: { type: 'string', describe: 'a folder for the evidence (default: ./evidence-archive)' } })
    .options(workDirectoryFlags)
    .example('$0 demo', 'exports what really happened on this machine into ./evidence-archive');
}
export type DemoFlags = Awaited<ReturnType<typeof demoFlags>['argv']>;

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

export function doctorFlags(argv: Argv) {
  return argv
    .options({ ...footingFlags, ...concurrencyFlags })
    .example('$0 doctor', 'checks the archive, the service, every key and root, the authority and the work directory');
}
export type DoctorFlags = Awaited<ReturnType<typeof doctorFlags>['argv']>;

export function keygenFlags(argv: Argv) {
  return argv
    .options({
      out: { type: 'string', demandOption: true, describe: 'file of the private key; the public one gets .pub' },
      type: { choices: ['ed25519', 'ecdsa-p256'] as const, default: 'ed25519' as const, describe: 'kind of key' },
    })
    .example('$0 keygen --out signing.pem', 'signing.pem and signing.pem.pub');
}
export type KeygenFlags = Awaited<ReturnType<typeof keygenFlags>['argv']>;
