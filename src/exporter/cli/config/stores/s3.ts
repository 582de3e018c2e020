import { EvidenceError } from '../../../../core/errors.ts';
import type { Archive } from '../../../archive/archive.ts';
import { DEFAULT_S3_LIMITS, parseS3Url, type S3Options } from '../../../archive/s3/options.ts';
import { readCertificates } from '../given-file.ts';
import type { StoreSettings } from '../store-settings.ts';
import type { Caller, NamedArchive, Store } from './store.ts';

/** Store in a bucket of Amazon S3 or a compatible store. The SDK is loaded on demand. */
export const S3_STORE: Store = {
  scheme: 's3',
  form: 's3://BUCKET/PREFIX',
  archive: 'an archive in S3',
  flags: ['endpoint', 'region', 'legal-hold', 'kms-key'],
  isRemote: true,
  locate: (address) => address.replace(/\/+$/, ''),
  open,
  make: open,
  // Checks nothing, because only a trial write would show what a bucket allows.
  checkForWriting: async () => undefined,
  check: async ({ url, store }, caller) => {
    const options = optionsOf(store, caller);
    const { checkBucket } = await import('../../../archive/s3/check.ts');
    return checkBucket(parseS3Url(url), { ...options, limits: { ...options.limits, attempts: ATTEMPTS } });
  },
  setUp: (address) => {
    const { bucket, prefix } = parseS3Url(address);
    refuseUnmakeable(bucket);
    // Characters with a special meaning in policies cannot be escaped there.
    if (/[*?$"]/.test(prefix)) throw new EvidenceError('usage', 'the prefix of the archive contains *, ?, $ or "');
    return { settings: 's3-settings.yaml', files: POLICIES, values: { bucket, prefix } };
  },
};

/**
 * Refuses names that new buckets cannot have (Amazon S3 User Guide, Bucket naming rules). Archives in older buckets can
 * still be opened.
 * @throws EvidenceError `usage`.
 */
function refuseUnmakeable(bucket: string): void {
  if (/^(?!\d+\.\d+\.\d+\.\d+$)(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) return;
  throw new EvidenceError('usage', 'the bucket name is not valid', {
    nextStep:
      'A bucket name has 3 to 63 lowercase letters, digits, dots and hyphens, and starts and ends with a letter or digit.',
  });
}

const POLICIES = ['writer-policy', 'auditor-policy', 'administrator-policy', 'bucket-policy'];

/** Number of attempts at a request of the doctor, kept low because a user is waiting and can retry. */
const ATTEMPTS = 3;

async function open({ url, store }: NamedArchive, caller: Caller): Promise<Archive> {
  const [place, options] = [parseS3Url(url), optionsOf(store, caller)];
  const { openS3Archive } = await import('../../../archive/s3/archive.ts');
  return openS3Archive(place, options);
}

function optionsOf({ caFile, ...settings }: StoreSettings, { signal, printer }: Caller): S3Options {
  const ca = caFile === undefined ? {} : { ca: readCertificates('archive.ca_file', caFile) };
  const trace = printer?.verbose === true ? (line: string) => printer.detail(line) : undefined;
  return { ...settings, ...ca, limits: DEFAULT_S3_LIMITS, trace, signal };
}
