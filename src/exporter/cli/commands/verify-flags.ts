import type { Argv } from 'yargs';
import { SECRET_CLAIMS } from '../../../verifier/claims/claim.ts';
import { archiveFlags, requirementFlags, trustFlags, workDirectoryFlags } from '../config/flags.ts';

const NAMED_CONFIG = {
  type: 'string',
  describe: 'configuration file to take keys, roots and requirements from; no other one is read',
} as const;
const WHOM_IT_TRUSTS =
  'Keys, roots, requirements and the endpoint come from you alone: a flag, else the file that --config or EVIDENCE_CONFIG names. A flag replaces all that the file says of the same thing. What a run or a bundle requires is required besides.';

// Over 40 lines: it is one table.
export function verifyFlags(argv: Argv) {
  return argv
    .positional('targets', {
      type: 'string',
      array: true,
      describe:
        'an archive (a folder or s3://BUCKET/PREFIX), a run in it, bundles (.zip) or evidence packages (.json); without one, the archive of the configuration that is named',
    })
    .options({
      config: NAMED_CONFIG,
      ...workDirectoryFlags,
      ...trustFlags,
      ...requirementFlags,
      endpoint: archiveFlags.endpoint,
    })
    .options({
      'public-key': { type: 'string', array: true, describe: 'PEM file of a key that the archive must be signed with' },
      identity: { type: 'string', array: true, describe: 'file of an age identity, to decrypt bundles with' },
      without: {
        type: 'string',
        choices: SECRET_CLAIMS,
        array: true,
        describe: 'a claim that takes a secret, and need not be proved although a run or a bundle requires it',
      },
      run: { type: 'string', describe: 'only this run of the archive' },
      from: { type: 'string', describe: 'only this run and those after it, to go on where a verification was ended' },
      fast: { type: 'boolean', describe: 'do not read bundles whose SHA-256 the store itself attests' },
      'locked-for': { type: 'string', describe: 'every object must be locked for so many days from now, e.g. 365d' },
      contract: { type: 'string', describe: 'contract file to read packages by (default: the one in the bundle)' },
      threads: {
        type: 'number',
        describe: 'threads that read a large package (default: one per core, at most 4)',
      },
      reference: { type: 'boolean', describe: 'read entries by the plain decoder alone: the same verdict, far slower' },
    })
    .example('$0 verify evidence-archive', 'everything that was ever archived')
    .example('$0 verify evidence-archive --public-key signing.pem.pub', 'and that its signatures are by this key')
    .example('$0 verify s3://acme-evidence/prod/runs/2026-10', 'one run of an archive in S3')
    .example('$0 verify s3://acme-evidence/prod --fast --locked-for 365d', 'all of it, as far as the store is believed')
    .example('$0 verify payments-df384ae9.zip --seal-key k1=k1.key', 'one bundle, seals included')
    .example('$0 verify *.zip', 'many bundles: a line each, and the worst exit code')
    .example('$0 verify --config evidence.yaml', 'the archive of that configuration')
    .epilogue(WHOM_IT_TRUSTS);
}
export type VerifyFlags = Awaited<ReturnType<typeof verifyFlags>['argv']>;
