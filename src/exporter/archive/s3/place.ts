import { EvidenceError } from '../../../core/errors.ts';
import { isKey } from '../../../verifier/archive/key.ts';

/** A bucket, and the part of every object's name that comes before the key: empty or ending in a slash. */
export interface S3Place {
  bucket: string;
  prefix: string;
}

/** The name of a bucket. */
const BUCKET = /^[a-zA-Z0-9][a-zA-Z0-9._-]{1,254}$/;

/**
 * The place that `s3://bucket/prefix` names.
 * @throws EvidenceError `config` when it names none; the text is not repeated, as it may hold a password.
 */
export function parseS3Url(url: string): S3Place {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/is.exec(url) ?? [];
  if (!BUCKET.test(bucket))
    throw new EvidenceError('config', 'the address of the archive is not s3://BUCKET/PREFIX', {
      nextStep: 'Name bucket and prefix only; credentials come from the environment, a profile or the machine.',
    });
  const prefix = path.replace(/\/+$/, '');
  if (prefix !== '' && !isKey(prefix))
    throw new EvidenceError('config', `the prefix of s3://${bucket}/… cannot be the beginning of an object's name`, {
      nextStep: 'Use parts without backslashes, control characters or a dot at their beginning, and no empty parts.',
    });
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}

export function formatS3Url({ bucket, prefix }: S3Place): string {
  return `s3://${bucket}/${prefix}`.replace(/\/$/, '');
}
