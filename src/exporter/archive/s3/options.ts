import { EvidenceError } from '../../../core/errors.ts';
import { isKey } from '../../../verifier/archive/key.ts';

/** Limits of tries, times and sizes; the defaults are meant for every store, and tests shorten them. */
export interface S3Limits {
  /** The tries of a request, before what it was for is given up. */
  attempts: number;
  /** The longest wait before the second attempt; it doubles from there. Milliseconds. */
  firstWaitMs: number;
  maxWaitMs: number;
  connectMs: number;
  /** Without a byte in either direction. */
  idleMs: number;
  /** The time of one attempt, whatever it sends … */
  requestMs: number;
  /** … and for its body so much longer as a line of this speed would need. */
  bytesPerSecond: number;
  /** From this size on an object goes up in parts. Amazon takes up to 5 GB at once, but a cut then costs all of it. */
  multipartBytes: number;
  /** At least 5 MiB. Larger objects than fit into 10,000 such parts have larger ones. */
  partBytes: number;
  /** The bytes of the parts of all objects that are in memory at once. */
  partMemoryBytes: number;
}

export const DEFAULT_S3_LIMITS: S3Limits = {
  attempts: 8,
  firstWaitMs: 200,
  maxWaitMs: 20_000,
  connectMs: 10_000,
  idleMs: 60_000,
  requestMs: 60_000,
  bytesPerSecond: 64 * 1024,
  multipartBytes: 100_000_000,
  partBytes: 8 * 2 ** 20,
  partMemoryBytes: 32 * 2 ** 20,
};

// Over ten members: they are the settings of an archive in evidence.yaml, and who asks.
export interface S3Options {
  /** The address of another store than Amazon's. */
  endpoint?: string | undefined;
  region?: string | undefined;
  /** A profile in the shared configuration of AWS tools. */
  profile?: string | undefined;
  /** `endpoint/bucket` instead of `bucket.endpoint`. */
  pathStyle: boolean;
  /** PEM; instead of the authorities that Node knows. */
  ca?: string | undefined;
  retention?: { mode: 'governance' | 'compliance'; years: number } | undefined;
  legalHold: boolean;
  kmsKeyId?: string | undefined;
  limits: S3Limits;
  /** Is told of every request, in a line. */
  trace?: ((line: string) => void) | undefined;
  signal: AbortSignal;
}

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
