import { GetObjectRetentionCommand, HeadObjectCommand, type HeadObjectCommandOutput } from '@aws-sdk/client-s3';
import { whereDefined } from '../../../core/defined.ts';
import { EvidenceError } from '../../../core/errors.ts';
import { type Expected, measure, type ObjectLock } from '../../../verifier/archive/archive.ts';
import type { PutResult } from '../archive.ts';
import { differenceTo } from '../content.ts';
import type { Connection } from './connection.ts';
import { isRefusal } from './failure.ts';
import { type PutProtection, protect } from './policy.ts';
import { openObject, type Wanted } from './read.ts';
import { toBase64 } from './upload.ts';

/** Metadata that a store returns for a version. */
export interface Inspection {
  bytes: number;
  version_id: string | undefined;
  /** SHA-256 checksum; undefined if the store keeps none; see `Uploaded`. */
  checksum: string | undefined;
  lock: ObjectLock | undefined;
  /** True if this identity may not read locks, so a lock may exist. */
  lockHidden: boolean;
  legalHold: boolean;
  encryption: string | undefined;
}

/** Returns null if there is no such version. */
export async function inspect(connection: Connection, wanted: Wanted): Promise<Inspection | null> {
  const { bucket, name, version_id } = wanted;
  const command = new HeadObjectCommand({ Bucket: bucket, Key: name, ChecksumMode: 'ENABLED', VersionId: version_id });
  const head = await connection.sendOr(`look at s3://${bucket}/${name}`, command, [404], () => null);
  if (head === null) return null;
  const own = head.VersionId === 'null' ? undefined : head.VersionId;
  return {
    bytes: head.ContentLength ?? -1,
    version_id: version_id ?? own,
    checksum: head.ChecksumSHA256,
    ...(await lockOf(connection, { bucket, name, version_id: version_id ?? own }, head)),
    legalHold: head.ObjectLockLegalHoldStatus === 'ON',
    encryption: head.ServerSideEncryption,
  };
}

/**
 * Returns the lock of a version. HEAD omits locks for identities that may not read them, so a missing lock is requested
 * explicitly.
 */
async function lockOf(
  connection: Connection,
  { bucket, name, version_id }: Wanted,
  head: HeadObjectCommandOutput,
): Promise<Pick<Inspection, 'lock' | 'lockHidden'>> {
  const shown = toLock(head.ObjectLockMode, head.ObjectLockRetainUntilDate);
  if (shown !== undefined) return { lock: shown, lockHidden: false };
  const command = new GetObjectRetentionCommand({ Bucket: bucket, Key: name, VersionId: version_id });
  // 404: none. 400: the bucket does not support locks. 405 and 501: the store does not.
  const leave = [400, 403, 404, 405, 501];
  const found = await connection.sendOr(`read the lock of s3://${bucket}/${name}`, command, leave, (error) => ({
    lockHidden: isRefusal(error, 403),
  }));
  if ('lockHidden' in found) return { lock: undefined, ...found };
  return { lock: toLock(found.Retention?.Mode, found.Retention?.RetainUntilDate), lockHidden: false };
}

function toLock(mode: string | undefined, until: Date | undefined): ObjectLock | undefined {
  if (mode === undefined || until === undefined) return undefined;
  return { mode: mode === 'COMPLIANCE' ? 'compliance' : 'governance', retain_until: until.toISOString() };
}

/** Reports whether a store's checksum covers the whole content, and not the checksums of parts. */
export function isWhole(checksum: string | undefined): checksum is string {
  return checksum !== undefined && !checksum.includes('-');
}

/** Returns length and SHA-256 of a version. Downloads the version unless the store attests its SHA-256. */
export async function measureObject(
  connection: Connection,
  wanted: Wanted,
  { bytes, checksum }: Pick<Inspection, 'bytes' | 'checksum'>,
): Promise<Expected> {
  if (isWhole(checksum)) return { bytes, sha256: Buffer.from(checksum, 'base64').toString('hex') };
  const content = await openObject(connection, wanted);
  if (content === null) throw lost(wanted, 'it cannot be read back');
  return measure(content);
}

interface Secured extends Inspection {
  /** True if the lock or legal hold was missing at first and was added here. */
  lockedLater: boolean;
}

/**
 * Returns the store's metadata of a version, after adding a missing lock: Ceph omits the lock from multipart uploads.
 *
 * @throws EvidenceError `archive` if the version does not exist or cannot be locked.
 */
export async function secure(connection: Connection, wanted: Wanted, protection: PutProtection): Promise<Secured> {
  const found = await requireThere(connection, wanted);
  if (unprotectedIn(found, protection) === undefined) return { ...found, lockedLater: false };
  await protect(connection, { ...wanted, version_id: found.version_id }, protection);
  const secured = await requireThere(connection, wanted);
  const left = unprotectedIn(secured, protection);
  if (left !== undefined) throw lost(wanted, `the store returned ${left}`);
  return { ...secured, lockedLater: true };
}

async function requireThere(connection: Connection, wanted: Wanted): Promise<Inspection> {
  const found = await inspect(connection, wanted);
  if (found === null) throw lost(wanted, 'it does not exist');
  return found;
}

/** Describes missing protection; undefined if there is none. */
function unprotectedIn({ lock, lockHidden, legalHold }: Inspection, protection: PutProtection): string | undefined {
  if (lockHidden) return undefined;
  if (protection.ObjectLockMode !== undefined && lock === undefined) return 'no lock';
  return protection.ObjectLockLegalHoldStatus === 'ON' && !legalHold ? 'no legal hold' : undefined;
}

/**
 * Compares the store's metadata of a version just stored with the expected content and protection.
 *
 * @param checksum see `Uploaded`.
 * @throws EvidenceError `archive` if the content, the lock or the encryption differs.
 */
export async function confirm(
  connection: Connection,
  wanted: Wanted,
  expected: Expected,
  checksum: string,
  protection: PutProtection,
): Promise<Secured> {
  const found = await secure(connection, wanted, protection);
  const attested = found.checksum === checksum && found.bytes === expected.bytes;
  const actual = attested ? expected : await measureObject(connection, wanted, found);
  const difference = differenceTo(expected, actual) ?? flawOf(found, protection);
  if (difference !== undefined) throw lost(wanted, `the store returned ${difference}`);
  return found;
}

/** Describes how lock or encryption differ from the requested protection; undefined if they do not. */
function flawOf(found: Inspection, protection: PutProtection): string | undefined {
  const { ObjectLockMode: mode, ObjectLockRetainUntilDate: until, ServerSideEncryption: encryption } = protection;
  const { lock } = found;
  if (mode !== undefined && until !== undefined && lock !== undefined)
    if (lock.mode !== mode.toLowerCase() || Date.parse(lock.retain_until) < until.getTime())
      return `a lock in ${lock.mode} mode until ${lock.retain_until} instead of ${mode.toLowerCase()} mode until ${until.toISOString()}`;
  if (encryption !== undefined && found.encryption !== encryption)
    return `an object encrypted as ${found.encryption ?? 'nothing'} instead of ${encryption}`;
  return undefined;
}

function lost({ bucket, name, version_id }: Wanted, why: string): EvidenceError {
  const version = version_id === undefined ? '' : ` (version ${version_id})`;
  return new EvidenceError('archive', `s3://${bucket}/${name}${version} was stored, but ${why}`, {
    nextStep: 'Do not use this store for evidence until its operator has explained this. The source was not changed.',
  });
}

/** Returns the fields of a stored version that records keep. */
export function toResult(state: PutResult['state'], { version_id, lock, legalHold }: Inspection): PutResult {
  return {
    state,
    ...whereDefined({ version_id, lock }),
    ...(legalHold ? { legal_hold: true } : {}),
  };
}

/** Reports whether the store itself attests the SHA-256 of a version. */
export function hasChecksum(found: Inspection, { sha256 }: Expected): boolean {
  return found.checksum === toBase64(sha256);
}
