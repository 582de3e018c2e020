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

/** A bucket that is asked about. */
export interface Bucket {
  connection: Connection;
  place: S3Place;
  options: S3Options;
}

/** The shortest lock that outlives the doctor's visit: nobody can take a scratch version away before. */
const LOCK_MS = 60_000;

/** Stores a scratch object as evidence is stored, but locked for a minute, and reads it back. */
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
 * Finds out whether this identity can take away what it stores, tried on a scratch version under a governance lock: by
 * lifting the lock, by deleting a version, by laying a delete marker over it.
 */
export async function checkDeletion(bucket: Bucket, isLocking: boolean): Promise<Check> {
  const { name, version_id } = await putScratch(bucket, isLocking ? 'GOVERNANCE' : null);
  const powers: string[] = [];
  if (version_id !== undefined && isLocking && (await mayDelete(bucket, { name, version_id, bypass: true })))
    powers.push('bypass governance (it has just deleted a locked scratch version)');
  // A version that there never was: what matters is whether the store would have looked for it.
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
    `this identity can ${powers.join(', ')}: whoever gets hold of it can take evidence away`,
    'Export with an identity that has only the writer policy, which `evidence init` writes.',
  );
}

interface Scratch {
  /** Its full name. */
  name: string;
  bytes: number;
  version_id: string | undefined;
}

async function putScratch(
  { connection, place, options }: Bucket,
  mode: 'COMPLIANCE' | 'GOVERNANCE' | null,
): Promise<Scratch> {
  const name = `${place.prefix}${SCRATCH}`;
  // Never the same, so that what is read back is what was stored now.
  const text = `Stored by evidence doctor to see how this store keeps it. It is not evidence. ${randomBytes(8).toString('hex')}\n`;
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
  // 400 and 404: it would have, had there been such a version.
  const doing = `try whether s3://${bucket}/${name} can be deleted`;
  const answer = await connection.sendOr(doing, command, [400, 403, 404], (error) => isRefusal(error, 403));
  return answer !== true;
}
