import { DEFAULT_REQUIRED } from '../../../verifier/claims/claim.ts';

/** Groups of flags that several commands share. */

export const configurationFlags = {
  config: { type: 'string', describe: 'configuration file (default: evidence.yaml in this folder, if there is one)' },
} as const;
export const serviceFlags = {
  'audit-url': { type: 'string', describe: 'address of the audit service' },
  contract: { type: 'string', describe: 'contract file of a service that differs, made by `evidence probe`' },
} as const;
export const archiveFlags = {
  archive: {
    type: 'string',
    describe: 'where the evidence is kept: a folder (default: ./evidence-archive) or s3://BUCKET/PREFIX',
  },
  endpoint: { type: 'string', describe: "address of the archive's S3 store, where it is not Amazon's" },
} as const;
export const workDirectoryFlags = {
  'work-directory': {
    type: 'string',
    describe: 'folder for what is on its way, in the clear; gone afterwards (default: TMPDIR)',
  },
} as const;
export const trustFlags = {
  'seal-key': {
    type: 'string',
    array: true,
    describe: 'a key to check seals with, as ID=FILE; the file holds hex:…, base64:… or the key itself',
  },
  'timestamp-roots': {
    type: 'string',
    describe: "PEM file of the authorities that you trust to stamp a service's checkpoints (anchor)",
  },
  'stamp-roots': { type: 'string', describe: 'PEM file of the authorities that you trust to stamp runs' },
  'accept-unhashed': {
    type: 'string',
    array: true,
    describe: 'what digests need not cover for content to be proved, e.g. time,resource or a field',
  },
} as const;

export const signingFlags = {
  'begin-signing': {
    type: 'boolean',
    describe: 'sign from now on, in an archive that was not signed and that you have verified',
  },
} as const;

export const requirementFlags = {
  require: {
    type: 'string',
    array: true,
    describe: `claims that must be proved (default: ${DEFAULT_REQUIRED.join(' ')})`,
  },
} as const;

export const dryRunFlag = {
  'dry-run': {
    type: 'boolean',
    describe: 'say what would be done, and whether it can be undone; do nothing',
  },
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
