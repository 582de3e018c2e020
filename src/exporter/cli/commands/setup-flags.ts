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
    describe: 'write an initial configuration and bucket policies',
    flags: {
      ...archiveFlags,
      'audit-url': serviceFlags['audit-url'],
      mode: { choices: ['compliance', 'governance'], default: 'compliance', describe: 'S3 lock mode' },
      years: { type: 'number', default: 7, describe: 'years that evidence is locked in S3' },
      'legal-hold': { type: 'boolean', describe: 'let the writer place objects on legal hold' },
      region: { describe: 'region of the bucket' },
      'kms-key': { describe: 'ARN of the key for encryption in S3' },
      cron: { type: 'boolean', describe: 'write deploy/crontab for a monthly export' },
      systemd: { type: 'boolean', describe: 'write services and timers for a monthly export' },
      kubernetes: { type: 'boolean', describe: 'write deploy/cronjob.yaml for a monthly export' },
    },
    examples: [
      ['$0 init --archive s3://acme-evidence/prod', 'evidence.yaml, and bucket policies in deploy/'],
      ['$0 init --systemd', 'a timer for evidence.yaml in this folder, which is created if missing'],
    ],
  },
  demo: {
    describe: 'run a first export, of real events on this machine',
    flags: {
      archive: { describe: 'a folder for the evidence (default: ./evidence-archive)' },
      ...workDirectoryFlags,
    },
    examples: [['$0 demo', 'exports real events on this machine to ./evidence-archive']],
  },
  probe: {
    describe: "detect a service's contract and write the contract file",
    flags: {
      ...configurationFlags,
      ...serviceFlags,
      'seal-key': trustFlags['seal-key'],
      out: { describe: 'the contract file to write (default: contract.yaml)' },
      generate: { type: 'boolean', describe: 'allow one evidence package to be generated, to detect its form' },
      'search-seconds': {
        type: 'number',
        describe: 'processor seconds to spend on finding the digest recipe (default: 20)',
      },
      force: { type: 'boolean', describe: 'replace a contract file that differs' },
    },
    examples: [
      ['$0 probe', 'only reads, and writes contract.yaml'],
      ['$0 probe --generate --seal-key k1=k1.key', 'generates a package too, and tries HMACs'],
    ],
  },
  doctor: {
    describe: 'check everything an export needs',
    flags: { ...footingFlags, ...concurrencyFlags },
    examples: [
      ['$0 doctor', 'checks the archive, the service, every key and root, the authority and the work directory'],
    ],
  },
  keygen: {
    describe: 'make a key pair for signing runs',
    flags: {
      out: { required: true, describe: 'private key file; the public key gets .pub appended' },
      type: { choices: ['ed25519', 'ecdsa-p256'], default: 'ed25519', describe: 'kind of key' },
    },
    examples: [['$0 keygen --out signing.pem', 'signing.pem and signing.pem.pub']],
  },
} as const satisfies Record<string, CommandTable>;
