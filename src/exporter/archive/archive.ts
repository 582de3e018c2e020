import type { Expected, LockReader, ObjectLock, ReadableArchive } from '../../verifier/archive/archive.ts';
import type { RunWarning } from '../../verifier/records/record.ts';

export interface PutResult {
  /** `existing`: an object with this key and content was already stored; nothing was written. */
  state: 'created' | 'existing';
  /** Version that holds the content, if the store keeps versions. A lock protects the version, not the key. */
  version_id?: string;
  /** Lock as read back, if the store locks objects. */
  lock?: ObjectLock;
  /** Legal hold as read back. */
  legal_hold?: true;
}

export type ObjectSource = { file: string } | { bytes: Uint8Array };

/** Changes to the protection of objects. None of them shortens a retention. */
export interface Locks extends LockReader {
  /**
   * Sets or removes a legal hold, and verifies the result.
   * @throws EvidenceError `not-found`, `archive`, `store-refused`; `config` if the bucket has no Object Lock.
   */
  hold(key: string, on: boolean): Promise<void>;

  /**
   * Extends the lock of an object, and verifies the result. A lock that lasts longer stays as it is.
   *
   * @param mode of an object without a lock; an existing lock keeps its mode.
   * @returns the lock before and after.
   * @throws EvidenceError as `hold` does.
   */
  extend(key: string, until: Date, mode: ObjectLock['mode']): Promise<{ before: ObjectLock | null; after: ObjectLock }>;
}

/** Links that are signed together and expire together. */
export interface LinkSeries {
  /** Expiry of the links. */
  until: Date;
  /**
   * Expiry of the credentials that sign the links, which ends the links too; null for permanent credentials, and
   * `unknown` for temporary ones without a stated expiry.
   */
  credentialsUntil: Date | 'unknown' | null;

  /**
   * Returns a link that grants read access to the object without credentials: a secret.
   * @throws EvidenceError `not-found`, `archive`, `config`.
   */
  linkTo(key: string): Promise<string>;
}

/** Links that let others read single objects for a limited time. */
export interface Links {
  /** @param seconds at most `MAX_LINK_SECONDS`. @throws EvidenceError `config` without credentials to sign with. */
  begin(seconds: number): Promise<LinkSeries>;
}

/**
 * Maximum lifetime of a link under Signature Version 4 (Amazon S3 API Reference, "Authenticating Requests: Using Query
 * Parameters").
 */
export const MAX_LINK_SECONDS = 7 * 24 * 60 * 60;

/**
 * Store of evidence. Objects can only be created: there is no operation that replaces or deletes one. Keys must pass
 * `checkKey`.
 */
export interface Archive extends ReadableArchive {
  readonly locks: Locks | null;

  /** Links to objects; null if objects can only be read with access to the archive. */
  readonly links: Links | null;

  /**
   * Stores an object durably, and reads it back before reporting success. An existing object with the same content is a
   * success, so a run can be repeated.
   *
   * @throws EvidenceError `conflict` if the key exists with other content; `unreadable` if the source does not match
   * `expected`; `not-found` if the source file is missing; `archive` if the store fails; `store-refused` if it denies
   * access. In each case the key is unchanged, unless the message says otherwise.
   */
  put(key: string, source: ObjectSource, expected: Expected): Promise<PutResult>;

  /**
   * Returns the limitations of this store compared with others, for the run record. If nothing was stored before, it
   * probes the store once.
   *
   * @throws EvidenceError as `put` does.
   */
  limitations(): Promise<readonly RunWarning[]>;

  close(): Promise<void>;
}

/**
 * Returns the earliest time at which an object stored now may be deleted, in whole seconds, because some stores keep no
 * more.
 */
export function retainUntil(years: number, now: Date): Date {
  const until = new Date(now);
  until.setUTCFullYear(until.getUTCFullYear() + years);
  until.setUTCMilliseconds(0);
  return until;
}
