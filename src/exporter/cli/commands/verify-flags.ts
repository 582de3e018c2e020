import type { CommandTable } from '../../../core/terminal/command-table.ts';
import { SECRET_CLAIMS } from '../../../verifier/claims/claim.ts';
import { archiveFlags, requirementFlags, trustFlags, workDirectoryFlags } from '../config/flags.ts';

const NAMED_CONFIG = {
  describe: 'configuration file with keys, roots and requirements; no other one is read',
} as const;
const WHOM_IT_TRUSTS =
  'Keys, roots, requirements and the endpoint come only from you: from flags, or from the file in --config or EVIDENCE_CONFIG. A flag replaces the same setting in the file. Requirements of a run or bundle apply in addition.';

export const VERIFY_COMMANDS = {
  verify: {
    describe: 'verify archives, runs, bundles and packages',
    operands: {
      targets: {
        array: true,
        default: [],
        describe:
          'an archive (a folder or s3://BUCKET/PREFIX), a run in it, bundles (.zip) or evidence packages (.json) (default: the archive in the given configuration)',
      },
    },
    flags: {
      config: NAMED_CONFIG,
      ...workDirectoryFlags,
      ...trustFlags,
      ...requirementFlags,
      endpoint: archiveFlags.endpoint,
      'public-key': { array: true, describe: 'PEM file of a key that the archive must be signed with' },
      identity: { array: true, describe: 'age identity file to decrypt bundles with' },
      without: {
        choices: SECRET_CLAIMS,
        array: true,
        describe: 'claim that needs a secret and may stay unproved even if a run or bundle requires it',
      },
      run: { describe: 'only this run of the archive' },
      from: { describe: 'only this run and later ones, to resume an interrupted verification' },
      fast: { type: 'boolean', describe: 'skip reading bundles whose SHA-256 the store attests' },
      'locked-for': { describe: 'require every object to be locked for this many days from now, e.g. 365d' },
      contract: { describe: 'contract file for reading packages (default: the one in the bundle)' },
      threads: { type: 'number', describe: 'threads for reading a large package (default: one per core, at most 4)' },
      reference: { type: 'boolean', describe: 'use only the reference decoder: same verdict, much slower' },
    },
    examples: [
      ['$0 verify evidence-archive', 'everything in the archive'],
      ['$0 verify evidence-archive --public-key signing.pem.pub', 'also that its signatures are by this key'],
      ['$0 verify s3://acme-evidence/prod/runs/2026-10', 'one run of an archive in S3'],
      ['$0 verify s3://acme-evidence/prod --fast --locked-for 365d', 'everything, trusting the checksums of the store'],
      ['$0 verify payments-df384ae9.zip --seal-key k1=k1.key', 'one bundle, seals included'],
      ['$0 verify *.zip', 'many bundles: one line each, and the worst exit code'],
      ['$0 verify --config evidence.yaml', 'the archive of that configuration'],
    ],
    epilogue: () => WHOM_IT_TRUSTS,
  },
} as const satisfies Record<string, CommandTable>;
