import type { CommandTable } from '../../../core/terminal/command-table.ts';
import {
  archiveFlags,
  concurrencyFlags,
  configurationFlags,
  footingFlags,
  serviceFlags,
  trustFlags,
  workDirectoryFlags,
} from '../config/flags.ts';

export const SETUP_COMMANDS = {
  init: {
    describe: 'write a first configuration, and policies for the bucket',
    flags: {
      ...archiveFlags,
      'audit-url': serviceFlags['audit-url'],
      mode: { choices: ['compliance', 'governance'], default: 'compliance', describe: 'kind of lock in S3' },
      years: { type: 'number', default: 7, describe: 'how long evidence is locked in S3' },
      'legal-hold': { type: 'boolean', describe: 'let the writer put what it stores on legal hold' },
      region: { describe: 'region of the bucket' },
      'kms-key': { describe: 'ARN of the key that S3 encrypts with' },
      cron: { type: 'boolean', describe: 'write deploy/crontab, which exports every month' },
      systemd: { type: 'boolean', describe: 'write services and timers, which export every month' },
      kubernetes: { type: 'boolean', describe: 'write deploy/cronjob.yaml, which exports every month' },
    },
    examples: [
      ['$0 init --archive s3://acme-evidence/prod', 'evidence.yaml, and policies for the bucket in deploy/'],
      ['$0 init --systemd', 'a timer for the evidence.yaml of this folder, which is made where there is none'],
    ],
  },
  demo: {
    describe: 'a first export, of what really happened on this machine',
    flags: {
      archive: { describe: 'a folder for the evidence (default: ./evidence-archive)' },
      ...workDirectoryFlags,
    },
    examples: [['$0 demo', 'exports what really happened on this machine into ./evidence-archive']],
  },
  probe: {
    describe: "find out a service's contract and write the contract file",
    flags: {
      ...configurationFlags,
      ...serviceFlags,
      'seal-key': trustFlags['seal-key'],
      out: { describe: 'the contract file to write (default: contract.yaml)' },
      generate: { type: 'boolean', describe: 'may have the service make one evidence package, to see its form' },
      'search-seconds': {
        type: 'number',
        describe: 'seconds of processor time to search for the recipe of the digests (default: 20)',
      },
      force: { type: 'boolean', describe: 'replace a contract file that says something else' },
    },
    examples: [
      ['$0 probe', 'only reads, and writes contract.yaml'],
      ['$0 probe --generate --seal-key k1=k1.key', 'sees a package too, and tries HMACs'],
    ],
  },
  doctor: {
    describe: 'check everything that an export needs',
    flags: { ...footingFlags, ...concurrencyFlags },
    examples: [
      ['$0 doctor', 'checks the archive, the service, every key and root, the authority and the work directory'],
    ],
  },
  keygen: {
    describe: 'make a key pair to sign runs with',
    flags: {
      out: { required: true, describe: 'file of the private key; the public one gets .pub' },
      type: { choices: ['ed25519', 'ecdsa-p256'], default: 'ed25519', describe: 'kind of key' },
    },
    examples: [['$0 keygen --out signing.pem', 'signing.pem and signing.pem.pub']],
  },
} as const satisfies Record<string, CommandTable>;
