import type { CommandTable } from '../../../core/terminal/command-table.ts';
import { SECRET_CLAIMS } from '../../../verifier/claims/claim.ts';
import { archiveFlags, requirementFlags, trustFlags, workDirectoryFlags } from '../config/flags.ts';

const NAMED_CONFIG = {
  describe: 'configuration file to take keys, roots and requirements from; no other one is read',
} as const;
const WHOM_IT_TRUSTS =
  'Keys, roots, requirements and the endpoint come from you alone: a flag, else the file that --config or EVIDENCE_CONFIG names. A flag replaces all that the file says of the same thing. What a run or a bundle requires is required besides.';

export const VERIFY_COMMANDS = {
  verify: {
    describe: 'verify archives, runs, bundles and packages',
    operands: {
      targets: {
        array: true,
        default: [],
        describe:
          'an archive (a folder or s3://BUCKET/PREFIX), a run in it, bundles (.zip) or evidence packages (.json); without one, the archive of the configuration that is named',
      },
    },
    flags: {
      config: NAMED_CONFIG,
      ...workDirectoryFlags,
      ...trustFlags,
      ...requirementFlags,
      endpoint: archiveFlags.endpoint,
      'public-key': { array: true, describe: 'PEM file of a key that the archive must be signed with' },
      identity: { array: true, describe: 'file of an age identity, to decrypt bundles with' },
      without: {
        choices: SECRET_CLAIMS,
        array: true,
        describe: 'a claim that takes a secret, and need not be proved although a run or a bundle requires it',
      },
      run: { describe: 'only this run of the archive' },
      from: { describe: 'only this run and those after it, to go on where a verification was ended' },
      fast: { type: 'boolean', describe: 'do not read bundles whose SHA-256 the store itself attests' },
      'locked-for': { describe: 'every object must be locked for so many days from now, e.g. 365d' },
      contract: { describe: 'contract file to read packages by (default: the one in the bundle)' },
      threads: { type: 'number', describe: 'threads that read a large package (default: one per core, at most 4)' },
      reference: { type: 'boolean', describe: 'read entries by the plain decoder alone: the same verdict, far slower' },
    },
    examples: [
      ['$0 verify evidence-archive', 'everything that was ever archived'],
      ['$0 verify evidence-archive --public-key signing.pem.pub', 'and that its signatures are by this key'],
      ['$0 verify s3://acme-evidence/prod/runs/2026-10', 'one run of an archive in S3'],
      ['$0 verify s3://acme-evidence/prod --fast --locked-for 365d', 'all of it, as far as the store is believed'],
      ['$0 verify payments-df384ae9.zip --seal-key k1=k1.key', 'one bundle, seals included'],
      ['$0 verify *.zip', 'many bundles: a line each, and the worst exit code'],
      ['$0 verify --config evidence.yaml', 'the archive of that configuration'],
    ],
    epilogue: () => WHOM_IT_TRUSTS,
  },
} as const satisfies Record<string, CommandTable>;
