import type { Argv } from 'yargs';
import { DEFAULT_REQUIRED } from '../../verifier/claims/claim.ts';

/** The flags of each command: all that is known of a command until it is asked for. */

const configuration = {
  config: { type: 'string', describe: 'configuration file (default: evidence.yaml in this folder, if there is one)' },
} as const;
const service = {
  'audit-url': { type: 'string', describe: 'address of the audit service' },
  contract: { type: 'string', describe: 'contract file of a service that differs, made by `evidence probe`' },
} as const;
const archive = {
  archive: {
    type: 'string',
    describe: 'where the evidence is kept: a folder (default: ./evidence-archive) or s3://BUCKET/PREFIX',
  },
  endpoint: { type: 'string', describe: "address of the archive's S3 store, where it is not Amazon's" },
} as const;
const workDirectory = {
  'work-directory': {
    type: 'string',
    describe: 'folder for what is on its way, in the clear; gone afterwards (default: TMPDIR)',
  },
} as const;
const trust = {
  'seal-key': {
    type: 'string',
    array: true,
    describe: 'a key to check seals with, as ID=FILE; the file holds hex:…, base64:… or the key itself',
  },
  'timestamp-roots': { type: 'string', describe: 'PEM file of the time-stamping authorities that you trust' },
  'accept-unhashed': {
    type: 'string',
    array: true,
    describe: 'what digests need not cover for content to be proved, e.g. time,resource or a field',
  },
} as const;

const signing = {
  'begin-signing': {
    type: 'boolean',
    describe: 'sign from now on, in an archive that was not signed and that you have verified',
  },
} as const;

const requirement = {
  require: {
    type: 'string',
    array: true,
    describe: `claims that must be proved (default: ${DEFAULT_REQUIRED.join(' ')})`,
  },
} as const;

const concurrency = {
  concurrency: { type: 'number', describe: 'streams at a time (default: 4)' },
} as const;

export function exportFlags(argv: Argv) {
  return argv
    .options({
      ...configuration,
      ...service,
      ...archive,
      ...workDirectory,
      ...trust,
      ...requirement,
      ...signing,
      ...concurrency,
    })
    .options({
      period: { type: 'string', describe: 'a month, e.g. 2026-10 (default: the last whole month, UTC)' },
      from: { type: 'string', describe: 'first moment of the period: a day or an RFC 3339 time' },
      to: { type: 'string', describe: 'end of the period, not included' },
      'all-time': { type: 'boolean', describe: 'everything there is' },
      stream: { type: 'string', array: true, describe: 'only streams that match one of these globs' },
      exclude: { type: 'string', array: true, describe: 'no stream that matches one of these globs' },
      request: { type: 'string', describe: "id of an auditor's request; names the run" },
      'requested-by': { type: 'string', describe: 'who asked, for the record' },
      missing: {
        type: 'boolean',
        describe: 'every month that has ended and is not whole in the archive, the oldest first',
      },
      revise: { type: 'boolean', describe: 'export again what is finalized, as a new revision' },
      'service-moved': {
        type: 'boolean',
        describe: 'the service of this archive has another address now; to be said once',
      },
      'finalize-partial': {
        type: 'boolean',
        describe: 'finalize the run even if something is missing, labelled PARTIAL',
      },
      'dry-run': { type: 'boolean', describe: 'say what would be exported and what would stop it; touch nothing' },
    })
    .example('$0 export --period 2026-10', 'October 2026, into ./evidence-archive')
    .example("$0 export --all-time --stream 'prod/*'", 'everything of some streams');
}
export type ExportFlags = Awaited<ReturnType<typeof exportFlags>['argv']>;

const NAMED_CONFIG = {
  type: 'string',
  describe: 'configuration file to take keys, roots and requirements from; no other one is read',
} as const;
const WHOM_IT_TRUSTS =
  'Keys, roots, requirements and the endpoint come from you alone: a flag, else the file that --config or EVIDENCE_CONFIG names. A flag replaces all that the file says of the same thing. What a run or a bundle requires is required besides.';

export function verifyFlags(argv: Argv) {
  return argv
    .positional('target', {
      type: 'string',
      demandOption: true,
      describe:
        'an archive (a folder or s3://BUCKET/PREFIX), a run in it, a bundle (.zip) or an evidence package (.json)',
    })
    .options({ config: NAMED_CONFIG, ...workDirectory, ...trust, ...requirement, endpoint: archive.endpoint })
    .options({
      'public-key': { type: 'string', array: true, describe: 'PEM file of a key that the archive must be signed with' },
      identity: { type: 'string', array: true, describe: 'file of an age identity, to decrypt bundles with' },
      run: { type: 'string', describe: 'only this run of the archive' },
      from: { type: 'string', describe: 'only this run and those after it, to go on where a verification was ended' },
      fast: { type: 'boolean', describe: 'do not read bundles whose SHA-256 the store itself attests' },
      'locked-for': { type: 'string', describe: 'every object must be locked for so many days from now, e.g. 365d' },
      contract: { type: 'string', describe: 'contract file to read packages by (default: the one in the bundle)' },
      threads: {
        type: 'number',
        describe: 'threads that read a package (default: one a core, at most 4; a small one is read by one)',
      },
    })
    .example('$0 verify evidence-archive', 'everything that was ever archived')
    .example('$0 verify evidence-archive --public-key signing.pem.pub', 'and that its signatures are by this key')
    .example('$0 verify s3://acme-evidence/prod/runs/2026-10', 'one run of an archive in S3')
    .example('$0 verify s3://acme-evidence/prod --fast --locked-for 365d', 'all of it, as far as the store is believed')
    .example('$0 verify payments-1a2b3c4d.zip --seal-key k1=k1.key', 'one bundle, seals included')
    .epilogue(WHOM_IT_TRUSTS);
}
export type VerifyFlags = Awaited<ReturnType<typeof verifyFlags>['argv']>;

export function streamsFlags(argv: Argv) {
  return argv
    .options({ ...configuration, ...service, ...archive })
    .example('$0 streams', 'what the service has, and what of it was exported');
}
export type StreamsFlags = Awaited<ReturnType<typeof streamsFlags>['argv']>;

export function probeFlags(argv: Argv) {
  return argv
    .options({ ...configuration, ...service, 'seal-key': trust['seal-key'] })
    .options({
      out: { type: 'string', describe: 'the contract file to write (default: contract.yaml)' },
      generate: { type: 'boolean', describe: 'may have the service make one evidence package, to see its form' },
      force: { type: 'boolean', describe: 'replace a contract file that says something else' },
    })
    .example('$0 probe', 'only reads, and writes contract.yaml')
    .example('$0 probe --generate --seal-key k1=k1.key', 'sees a package too, and tries HMACs');
}
export type ProbeFlags = Awaited<ReturnType<typeof probeFlags>['argv']>;

export function demoFlags(argv: Argv) {
  return argv
    .options({ archive: { type: 'string', describe: 'a folder for the evidence (default: ./evidence-archive)' } })
    .options(workDirectory)
    .example('$0 demo', 'exports what really happened on this machine into ./evidence-archive');
}
export type DemoFlags = Awaited<ReturnType<typeof demoFlags>['argv']>;

export function ledgerFlags(argv: Argv) {
  return argv
    .positional('action', { choices: ['accept'] as const, demandOption: true, describe: 'what to record' })
    .positional('stream', { type: 'string', demandOption: true, describe: 'the id of the stream' })
    .options({ ...configuration, ...archive, ...signing })
    .options({
      reason: { type: 'string', demandOption: true, describe: 'why it was ended or began anew; kept for ever' },
    })
    .example("$0 ledger accept payments --reason 'moved to payments-eu, ticket OPS-411'", '');
}
export type LedgerFlags = Awaited<ReturnType<typeof ledgerFlags>['argv']>;

export function keygenFlags(argv: Argv) {
  return argv
    .options({
      out: { type: 'string', demandOption: true, describe: 'file of the private key; the public one gets .pub' },
      type: { choices: ['ed25519', 'ecdsa-p256'] as const, default: 'ed25519' as const, describe: 'kind of key' },
    })
    .example('$0 keygen --out signing.pem', 'signing.pem and signing.pem.pub');
}
export type KeygenFlags = Awaited<ReturnType<typeof keygenFlags>['argv']>;

export function restampFlags(argv: Argv) {
  return argv
    .positional('run', { type: 'string', describe: 'the run to stamp' })
    .options({ ...configuration, ...archive })
    .options({
      all: { type: 'boolean', describe: 'every finalized run' },
      within: {
        type: 'string',
        default: '90d',
        describe: 'only where the certificate behind the newest token ends within so many days',
      },
    })
    .example('$0 restamp --all', 'what needs it within 90 days; once a month is enough')
    .example('$0 restamp 2026-10 --within 400d', 'one run, if its certificate ends within 400 days');
}
export type RestampFlags = Awaited<ReturnType<typeof restampFlags>['argv']>;

export function holdFlags(argv: Argv) {
  return argv
    .positional('run', { type: 'string', demandOption: true, describe: 'a finalized run' })
    .options({ ...configuration, ...archive })
    .options({ reason: { type: 'string', demandOption: true, describe: 'why; kept with the run for ever' } })
    .example("$0 hold 2026-10 --reason 'case 26-114'", 'nobody can delete it until it is released')
    .example("$0 release 2026-10 --reason 'case 26-114 is closed'", 'takes the hold away; retention stays');
}
export type HoldFlags = Awaited<ReturnType<typeof holdFlags>['argv']>;

export function extendFlags(argv: Argv) {
  return argv
    .positional('run', { type: 'string', demandOption: true, describe: 'a finalized run' })
    .options({ ...configuration, ...archive })
    .options({
      years: { type: 'number', describe: 'how many years after its end the run is to be kept' },
      until: { type: 'string', describe: 'until when: a day or an RFC 3339 time' },
      reason: { type: 'string', demandOption: true, describe: 'why; kept with the run for ever' },
    })
    .example("$0 extend 2026-10 --years 10 --reason 'new policy of 2027'", 'ten years from the end of the run');
}
export type ExtendFlags = Awaited<ReturnType<typeof extendFlags>['argv']>;

export function shareFlags(argv: Argv) {
  return argv
    .positional('run', { type: 'string', demandOption: true, describe: 'a finalized run' })
    .options({ ...configuration, ...archive })
    .options({
      for: { type: 'string', describe: 'who gets it; stands in the letter and in the record' },
      expires: { type: 'string', describe: 'when links end: 7d (the default, and the most that S3 allows), 12h, 30m' },
      out: {
        type: 'string',
        describe: 'copies into this new folder, and no links; always so for an archive in a folder',
      },
    })
    .example("$0 share 2026-10 --for 'J. Smith, Example Audit'", 'a letter with links that end in a week')
    .example('$0 share 2026-10 --out for-the-auditor', 'a letter with copies, to verify without access to the archive');
}
export type ShareFlags = Awaited<ReturnType<typeof shareFlags>['argv']>;

export function doctorFlags(argv: Argv) {
  return argv
    .options({ ...configuration, ...service, ...archive, ...workDirectory, ...trust, ...requirement, ...concurrency })
    .example('$0 doctor', 'checks the archive, the service, every key and root, the authority and the work directory');
}
export type DoctorFlags = Awaited<ReturnType<typeof doctorFlags>['argv']>;

export function runsFlags(argv: Argv) {
  return argv
    .options({ ...configuration, ...archive })
    .example('$0 runs', 'period, outcome, size and lock of every run in the archive');
}
export type RunsFlags = Awaited<ReturnType<typeof runsFlags>['argv']>;

export function initFlags(argv: Argv) {
  return argv
    .options({ ...archive, 'audit-url': service['audit-url'] })
    .options({
      mode: {
        choices: ['compliance', 'governance'] as const,
        default: 'compliance' as const,
        describe: 'kind of lock in S3',
      },
      years: { type: 'number', default: 7, describe: 'how long evidence is locked in S3' },
      'legal-hold': { type: 'boolean', describe: 'let the writer put what it stores on legal hold' },
      'kms-key': { type: 'string', describe: 'ARN of the key that S3 encrypts with' },
    })
    .example('$0 init --archive s3://acme-evidence/prod', 'evidence.yaml, and policies for the bucket in deploy/');
}
export type InitFlags = Awaited<ReturnType<typeof initFlags>['argv']>;

export function helpFlags(argv: Argv) {
  return argv.positional('topic', { choices: ['exit-codes'] as const, demandOption: true });
}
