import type { PutObjectCommandInput } from '@aws-sdk/client-s3';
import { retainUntil, type S3Options } from './options.ts';

/** What an object is to be stored with; all of it is set by the request that makes it, so no crash comes between. */
export interface Protection
  extends Pick<
    PutObjectCommandInput,
    | 'ObjectLockMode'
    | 'ObjectLockRetainUntilDate'
    | 'ObjectLockLegalHoldStatus'
    | 'ServerSideEncryption'
    | 'SSEKMSKeyId'
  > {}

export function protectionOf({ retention, legalHold, kmsKeyId }: S3Options, now: Date): Protection {
  return {
    ...(retention === undefined
      ? {}
      : {
          ObjectLockMode: retention.mode === 'compliance' ? ('COMPLIANCE' as const) : ('GOVERNANCE' as const),
          ObjectLockRetainUntilDate: retainUntil(retention.years, now),
        }),
    ...(legalHold ? { ObjectLockLegalHoldStatus: 'ON' as const } : {}),
    ...(kmsKeyId === undefined ? {} : { ServerSideEncryption: 'aws:kms' as const, SSEKMSKeyId: kmsKeyId }),
  };
}
