import { createHash, randomBytes } from 'node:crypto';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { whereDefined } from '../../../core/defined.ts';
import { type Check, failed, ok } from '../../check.ts';
import { SCRATCH } from './capabilities.ts';
import type { Connection } from './connection.ts';
import { isRefusal } from './failure.ts';
import { confirm } from './inspect.ts';
import type { S3Options, S3Place } from './options.ts';
import { type PutProtection, protectionOf } from './policy.ts';
import { putWhole } from './upload.ts';

/** Bucket under test. */
export interface Bucket {
  connection: Connection;
  place: S3Place;
  options: S3Options;
}

/** Lock duration of scratch versions: no one can delete them during the check. */
const LOCK_MS = 60_000;

/** Stores a scratch object as evidence is stored, but locked for only a minute, and reads it back. */
export async function checkWriting(bucket: Bucket, isLocking: boolean): Promise<Check> {
  const { retention } = bucket.options;
  const mode = retention?.mode === 'compliance' ? 'COMPLIANCE' : 'GOVERNANCE';
  const { name, bytes, version_id } = await putScratch(bucket, isLocking ? mode : null);
  const left = `one version of s3://${bucket.place.bucket}/${name} stays`;
  const version = version_id === undefined ? '' : `, version ${version_id}`;
  if (!isLocking) return ok('write', `stored ${bytes} bytes and read them back, without a lock; ${left}${version}`);
  return ok(
    'write',
    `stored ${bytes} bytes, read them and their lock back; ${left}${version}, locked (${mode.toLowerCase()}) for a minute`,
  );
}

/**
 * Checks whether this identity can remove what it stores. Tries on a scratch version under a governance lock: bypassing
 * the lock, deleting a version, and adding a delete marker.
 */
export async function checkDeletion(bucket: Bucket, isLocking: boolean): Promise<Check> {
  const { name, version_id } = await putScratch(bucket, isLocking ? 'GOVERNANCE' : null);
  const powers: string[] = [];
  if (version_id !== undefined && isLocking && (await mayDelete(bucket, { name, version_id, bypass: true })))
    powers.push('bypass governance (it has just deleted a locked scratch version)');
  // Nonexistent version: the answer shows if the store would have deleted it.
  const nowhere = version_id?.split('').reverse().join('');
  if (nowhere !== undefined && (await mayDelete(bucket, { name, version_id: nowhere, bypass: false })))
    powers.push('delete versions');
  if (await mayDelete(bucket, { name, version_id: undefined, bypass: false })) powers.push('delete objects');
  if (powers.length === 0)
    return ok(
      'deletion',
      `this identity can neither bypass governance nor delete anything${isLocking ? '; a second scratch version stays, locked for a minute' : ''}`,
    );
  return failed(
    'deletion',
    `this identity can ${powers.join(', ')}: anyone who obtains it can remove evidence`,
    'Export with an identity that has only the writer policy from `evidence init`.',
  );
}

async function putScratch({ connection, place, options }: Bucket, mode: 'COMPLIANCE' | 'GOVERNANCE' | null) {
  const name = `${place.prefix}${SCRATCH}`;
  // Random text, so that reading it back proves that this version was stored now.
  const text = `Stored by evidence doctor to test this store. It is not evidence. ${randomBytes(8).toString('hex')}\n`;
  const until = new Date(Date.now() + LOCK_MS);
  until.setUTCMilliseconds(0);
  const { ServerSideEncryption, SSEKMSKeyId } = protectionOf(options, until);
  const protection: PutProtection = {
    ...whereDefined({ ServerSideEncryption, SSEKMSKeyId }),
    ...(mode === null ? {} : { ObjectLockMode: mode, ObjectLockRetainUntilDate: until }),
  };
  const expected = { sha256: createHash('sha256').update(text).digest('hex'), bytes: Buffer.byteLength(text) };
  const upload = { bucket: place.bucket, name, source: { bytes: Buffer.from(text) }, expected, protection };
  const { version_id, checksum } = await connection.attempt(
    `store s3://${place.bucket}/${name}${mode === null ? '' : ' with a lock'}`,
    (signal) => putWhole(connection, { ...upload, createOnly: false }, signal),
  );
  const wanted = { bucket: place.bucket, name, version_id };
  const found = await confirm(connection, wanted, expected, checksum, protection);
  return { name, bytes: expected.bytes, version_id: found.version_id };
}

async function mayDelete(
  { connection, place: { bucket } }: Bucket,
  { name, version_id, bypass }: { name: string; version_id: string | undefined; bypass: boolean },
): Promise<boolean> {
  const command = new DeleteObjectCommand({
    Bucket: bucket,
    Key: name,
    VersionId: version_id,
    ...(bypass ? { BypassGovernanceRetention: true } : {}),
  });
  // 400 and 404: the store would have deleted an existing version.
  const doing = `try whether s3://${bucket}/${name} can be deleted`;
  const answer = await connection.sendOr(doing, command, [400, 403, 404], (error) => isRefusal(error, 403));
  return answer !== true;
}
