import { GetObjectLegalHoldCommand, PutObjectLegalHoldCommand, PutObjectRetentionCommand } from '@aws-sdk/client-s3';
import { whereDefined } from '../../../core/defined.ts';
import { EvidenceError } from '../../../core/errors.ts';
import type { Inspected, ObjectLock } from '../../../verifier/archive/archive.ts';
import type { Locks } from '../archive.ts';
import type { Connection } from './connection.ts';
import { isRefusal } from './failure.ts';
import { inspect, isWhole } from './inspect.ts';
import type { Wanted } from './read.ts';

/** Locks of existing objects. New objects are locked by the request that stores them. */
export class S3Locks implements Locks {
  readonly #connection: Connection;
  readonly #find: (key: string) => Promise<Wanted | null>;

  /** @param find returns the version that is the object; null if the key does not exist. */
  constructor(connection: Connection, find: (key: string) => Promise<Wanted | null>) {
    this.#connection = connection;
    this.#find = find;
  }

  async inspect(key: string): Promise<Inspected | null> {
    const wanted = await this.#find(key);
    const found = wanted === null ? null : await inspect(this.#connection, wanted);
    if (found === null) return null;
    const { bytes, version_id, checksum, lock, lockHidden, legalHold } = found;
    return {
      bytes,
      ...whereDefined({ version_id }),
      ...(isWhole(checksum) ? { sha256: Buffer.from(checksum, 'base64').toString('hex') } : {}),
      lock: lock ?? (lockHidden ? 'hidden' : null),
      legal_hold: legalHold,
    };
  }

  async isHeld(key: string): Promise<boolean | null> {
    const wanted = await this.#find(key);
    return wanted === null ? false : this.#isHeld(wanted);
  }

  async hold(key: string, on: boolean): Promise<void> {
    const wanted = await this.#require(key);
    const { bucket, name } = wanted;
    const command = new PutObjectLegalHoldCommand({ ...toVersion(wanted), LegalHold: { Status: on ? 'ON' : 'OFF' } });
    const doing = on ? 'set the legal hold, a lock,' : 'take away the legal hold, a lock,';
    await this.#connection.send(`${doing} of s3://${bucket}/${name}`, command);
    const held = await this.#isHeld(wanted);
    if (held !== on) throw unchanged(wanted, held === null ? 'does not show legal holds' : `shows it as ${word(held)}`);
  }

  async extend(
    key: string,
    until: Date,
    mode: ObjectLock['mode'],
  ): Promise<{ before: ObjectLock | null; after: ObjectLock }> {
    const wanted = await this.#require(key);
    const before = await this.#lockOf(wanted);
    if (before !== null && Date.parse(before.retain_until) >= until.getTime()) return { before, after: before };
    const { bucket, name } = wanted;
    const command = new PutObjectRetentionCommand({
      ...toVersion(wanted),
      Retention: {
        Mode: (before?.mode ?? mode) === 'compliance' ? 'COMPLIANCE' : 'GOVERNANCE',
        RetainUntilDate: until,
      },
    });
    await this.#connection.send(`extend the lock of s3://${bucket}/${name}`, command);
    const after = await this.#lockOf(wanted);
    if (after === null || Date.parse(after.retain_until) < until.getTime())
      throw unchanged(wanted, `shows ${after === null ? 'no lock' : `a lock until ${after.retain_until}`}`);
    return { before, after };
  }

  async #require(key: string): Promise<Wanted> {
    const wanted = await this.#find(key);
    if (wanted === null) throw new EvidenceError('not-found', `the archive has no ${key}`);
    return wanted;
  }

  /** Returns the present lock. Throws if it is hidden, because a new lock might then be shorter. */
  async #lockOf(wanted: Wanted): Promise<ObjectLock | null> {
    const found = await inspect(this.#connection, wanted);
    const { bucket, name } = wanted;
    if (found === null) throw new EvidenceError('not-found', `s3://${bucket}/${name} no longer exists`);
    if (found.lockHidden)
      throw new EvidenceError('store-refused', `the store does not show the lock of s3://${bucket}/${name}`, {
        nextStep: { before: 'Give this identity s3:GetObjectRetention, then' },
      });
    return found.lock ?? null;
  }

  async #isHeld(wanted: Wanted): Promise<boolean | null> {
    // 404: never set. 400: the bucket does not support locks. 405 and 501: the store does not.
    const leave = [400, 403, 404, 405, 501];
    const doing = `read the legal hold of s3://${wanted.bucket}/${wanted.name}`;
    const command = new GetObjectLegalHoldCommand(toVersion(wanted));
    const found = await this.#connection.sendOr(doing, command, leave, (error) =>
      isRefusal(error, 403) ? 'hidden' : 'none',
    );
    if (typeof found === 'string') return found === 'hidden' ? null : false;
    return found.LegalHold?.Status === 'ON';
  }
}

function toVersion({ bucket, name, version_id }: Wanted) {
  return { Bucket: bucket, Key: name, VersionId: version_id };
}

function word(held: boolean): string {
  return held ? 'still set' : 'not set';
}

function unchanged({ bucket, name }: Wanted, what: string): EvidenceError {
  return new EvidenceError('archive', `s3://${bucket}/${name} should be protected differently, but the store ${what}`, {
    nextStep: { before: 'Inspect the object with another S3 client, then' },
  });
}
