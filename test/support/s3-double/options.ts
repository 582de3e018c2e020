import { DEFAULT_S3_LIMITS, type S3Limits, type S3Options } from '../../../src/exporter/archive/s3/options.ts';
import type { S3Double } from './double.ts';

/** Limits with waits short enough for a test. */
export const QUICK: S3Limits = { ...DEFAULT_S3_LIMITS, firstWaitMs: 2, maxWaitMs: 50 };

/** Parts as small as stores permit. */
export const IN_SMALL_PARTS: S3Limits = { ...QUICK, multipartBytes: 6 * 2 ** 20, partBytes: 5 * 2 ** 20 };

export function doubleOptions({ endpoint }: Pick<S3Double, 'endpoint'>, more: Partial<S3Options> = {}): S3Options {
  const { signal } = new AbortController();
  return { endpoint, pathStyle: true, legalHold: false, limits: QUICK, signal, ...more };
}
