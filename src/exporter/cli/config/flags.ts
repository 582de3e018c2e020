import { DEFAULT_REQUIRED } from '../../../verifier/claims/claim.ts';

/** Groups of flags that several commands share. */

export const configurationFlags = {
  config: { describe: 'configuration file (default: evidence.yaml in this folder, if there is one)' },
} as const;
export const serviceFlags = {
  'audit-url': { describe: 'address of the audit service' },
  contract: { describe: 'contract file of the service, made by `evidence probe`' },
} as const;
export const archiveFlags = {
  archive: { describe: 'archive for the evidence: a folder (default: ./evidence-archive) or s3://BUCKET/PREFIX' },
  endpoint: { describe: "address of the archive's S3 store, if not Amazon's" },
} as const;
export const workDirectoryFlags = {
  'work-directory': { describe: 'folder for temporary unencrypted files, deleted at the end (default: TMPDIR)' },
} as const;
export const trustFlags = {
  'seal-key': {
    array: true,
    describe: 'key for checking seals, as ID=FILE; the file contains hex:…, base64:… or the raw key',
  },
  'timestamp-roots': {
    describe: "PEM file of trusted authorities for a service's checkpoints (anchor)",
  },
  'stamp-roots': { describe: 'PEM file of trusted authorities for the stamps of runs' },
  'accept-unhashed': {
    array: true,
    describe: 'what digests may leave uncovered for content to be proved, e.g. time,resource or a field',
  },
} as const;

export const signingFlags = {
  'begin-signing': {
    type: 'boolean',
    describe: 'start signing in an archive that was not signed and that you have verified',
  },
} as const;

export const requirementFlags = {
  require: { array: true, describe: `claims that must be proved (default: ${DEFAULT_REQUIRED.join(' ')})` },
} as const;

export const dryRunFlag = {
  'dry-run': { type: 'boolean', describe: 'show what would be done and whether it can be undone; change nothing' },
} as const;

export const concurrencyFlags = {
  concurrency: { type: 'number', describe: 'streams at a time (default: 4)' },
} as const;

/** Flags that an export depends on and the doctor checks. */
export const footingFlags = {
  ...configurationFlags,
  ...serviceFlags,
  ...archiveFlags,
  ...workDirectoryFlags,
  ...trustFlags,
  ...requirementFlags,
} as const;
