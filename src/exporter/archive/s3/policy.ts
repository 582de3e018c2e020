import { type PutObjectCommandInput, PutObjectLegalHoldCommand, PutObjectRetentionCommand } from '@aws-sdk/client-s3';
import { retainUntil } from '../archive.ts';
import type { Connection } from './connection.ts';
import type { S3Options } from './options.ts';
import type { Wanted } from './read.ts';

/**
 * Protection of a new object. The request that stores the object sets all of it, so a crash cannot leave the object
 * unprotected.
 */
export interface PutProtection
  extends Pick<
    PutObjectCommandInput,
    | 'ObjectLockMode'
    | 'ObjectLockRetainUntilDate'
    | 'ObjectLockLegalHoldStatus'
    | 'ServerSideEncryption'
    | 'SSEKMSKeyId'
  > {}

/** Locks an existing version as far as the store allows. The caller reads the result back. */
export async function protect(
  connection: Connection,
  { bucket, name, version_id }: Wanted,
  {
    ObjectLockMode: Mode,
    ObjectLockRetainUntilDate: RetainUntilDate,
    ObjectLockLegalHoldStatus: Status,
  }: PutProtection,
): Promise<void> {
  const target = { Bucket: bucket, Key: name, ChecksumAlgorithm: 'SHA256' as const, VersionId: version_id };
  const send = (command: PutObjectRetentionCommand | PutObjectLegalHoldCommand) =>
    connection.sendOr(`lock s3://${bucket}/${name}`, command, [400, 403, 404, 405, 501], () => null);
  if (Mode !== undefined && RetainUntilDate !== undefined)
    await send(new PutObjectRetentionCommand({ ...target, Retention: { Mode, RetainUntilDate } }));
  if (Status !== undefined) await send(new PutObjectLegalHoldCommand({ ...target, LegalHold: { Status } }));
}

export function protectionOf({ retention, legalHold, kmsKeyId }: S3Options, now: Date): PutProtection {
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
