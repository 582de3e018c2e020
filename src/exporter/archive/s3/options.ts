import { EvidenceError } from '../../../core/errors.ts';
import { isKey } from '../../../verifier/archive/key.ts';

/** Limits of attempts, times and sizes. The defaults suit every store; tests shorten them. */
export interface S3Limits {
  /** Number of attempts at a request. */
  attempts: number;
  /** Maximum wait before the second attempt, which doubles with each further attempt. Milliseconds. */
  firstWaitMs: number;
  maxWaitMs: number;
  connectMs: number;
  /** Maximum time without a byte in either direction. */
  idleMs: number;
  /** Base time limit of an attempt; time for the body is added at `bytesPerSecond`. */
  requestMs: number;
  /** Minimum speed that the time limit of an attempt assumes for the body. */
  bytesPerSecond: number;
  /**
   * Minimum size of objects that are uploaded in parts. Amazon accepts up to 5 GB in one request, but a broken
   * connection then loses everything.
   */
  multipartBytes: number;
  /** Size of a part, at least 5 MiB. Objects that exceed 10,000 such parts have larger ones. */
  partBytes: number;
  /** Maximum memory for the parts of all objects together. */
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

// Over ten members: they are the settings of an archive in evidence.yaml, and its caller's hooks.
export interface S3Options {
  /** Address of an S3 store other than Amazon's. */
  endpoint?: string | undefined;
  region?: string | undefined;
  /** Profile in the shared configuration of AWS tools. */
  profile?: string | undefined;
  /** Uses `endpoint/bucket` addresses instead of `bucket.endpoint`. */
  pathStyle: boolean;
  /** PEM certificates that replace Node's certificate authorities. */
  ca?: string | undefined;
  retention?: { mode: 'governance' | 'compliance'; years: number } | undefined;
  legalHold: boolean;
  kmsKeyId?: string | undefined;
  limits: S3Limits;
  /** Receives a line for every request. */
  trace?: ((line: string) => void) | undefined;
  signal: AbortSignal;
}

/** Bucket, and the prefix of object names before the key: empty or ending with a slash. */
export interface S3Place {
  bucket: string;
  prefix: string;
}

/** Valid bucket names. */
const BUCKET = /^[a-zA-Z0-9][a-zA-Z0-9._-]{1,254}$/;

/**
 * Parses an address of the form `s3://bucket/prefix`.
 * @throws EvidenceError `config` if it has another form; the message omits the address, which may contain a password.
 */
export function parseS3Url(url: string): S3Place {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/is.exec(url) ?? [];
  if (!BUCKET.test(bucket))
    throw new EvidenceError('config', 'the address of the archive is not s3://BUCKET/PREFIX', {
      nextStep: 'Name bucket and prefix only; credentials come from the environment, a profile or the machine.',
    });
  const prefix = path.replace(/\/+$/, '');
  if (prefix !== '' && !isKey(prefix))
    throw new EvidenceError('config', `the prefix of s3://${bucket}/… is not a valid start of an object name`, {
      nextStep: 'Each part must be non-empty, without backslashes, control characters or a leading dot.',
    });
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}

export function formatS3Url({ bucket, prefix }: S3Place): string {
  return `s3://${bucket}/${prefix}`.replace(/\/$/, '');
}
