import type { Expected, LockReader, ObjectLock, ReadableArchive } from '../../verifier/archive/archive.ts';

export interface PutResult {
  /** `existing`: an object of this key and content was there already; nothing was written. */
  state: 'created' | 'existing';
  /** The version that holds the content, where the store keeps versions. A lock protects it, not the key. */
  version_id?: string;
  /** As read back from the store, where it locks objects. */
  lock?: ObjectLock;
  /** As read back. */
  legal_hold?: true;
}

export type ObjectSource = { file: string } | { bytes: Uint8Array };

/** Changes to the protection of objects; nothing here takes any of a retention away. */
export interface Locks extends LockReader {
  /**
   * Sets a legal hold or takes it away, and looks whether it is so then.
   * @throws EvidenceError `not-found`, `archive`, `store-refused`; `config` where the bucket has no Object Lock.
   */
  hold(key: string, on: boolean): Promise<void>;

  /**
   * Locks an object until a later moment than before, and looks whether it is so then. One that is locked for longer
   * stays as it is.
   *
   * @param mode of an object that has no lock so far; those that have one keep its mode.
   * @returns what it was before and what it is now.
   * @throws EvidenceError as `hold` does.
   */
  extend(key: string, until: Date, mode: ObjectLock['mode']): Promise<{ before: ObjectLock | null; after: ObjectLock }>;
}

/** Links that were all begun at one moment and all end together. */
export interface LinkSeries {
  /** When they stop to work by themselves. */
  until: Date;
  /**
   * When the credentials end that they are signed with, which ends the links too; null for credentials that last, and
   * `unknown` for temporary ones that do not say when.
   */
  credentialsUntil: Date | 'unknown' | null;

  /**
   * A link by which whoever has it reads the object without credentials: a secret.
   * @throws EvidenceError `not-found`, `archive`, `config`.
   */
  linkTo(key: string): Promise<string>;
}

/** Links by which others read single objects for a while. */
export interface Links {
  /** @param seconds at most `MAX_LINK_SECONDS`. @throws EvidenceError `config` where there is nothing to sign with. */
  begin(seconds: number): Promise<LinkSeries>;
}

/** Signature Version 4 (Amazon S3 API Reference, "Authenticating Requests: Using Query Parameters") allows no more. */
export const MAX_LINK_SECONDS = 7 * 24 * 60 * 60;

/**
 * A store of evidence. Objects are only ever created: nothing here replaces or deletes one. Keys are those that
 * `checkKey` lets pass.
 */
export interface Archive extends ReadableArchive {
  readonly locks: Locks | null;

  /** Null where nobody reads without access to the archive itself. */
  readonly links: Links | null;

  /**
   * Stores an object so that it survives a crash and reads it back before it says so. A key that exists with the
   * same content is success, so that a run can be repeated.
   *
   * @throws EvidenceError `conflict` when the key exists with other content; `unreadable` when the source is not what
   * `expected` says; `not-found` when the source file is missing; `archive` when the store fails; `store-refused` when
   * it does not let us. In each case the key is as it was before, unless the message says otherwise.
   */
  put(key: string, source: ObjectSource, expected: Expected): Promise<PutResult>;

  /**
   * Returns what this store does less than others, a sentence each, for the record of what it was trusted with. Finds
   * it out, once, by trying, if nothing was put before.
   *
   * @throws EvidenceError as `put` does.
   */
  limitations(): Promise<readonly string[]>;

  close(): Promise<void>;
}

/** The first moment at which an object that is stored now may be deleted. Whole seconds: not every store keeps more. */
export function retainUntil(years: number, now: Date): Date {
  const until = new Date(now);
  until.setUTCFullYear(until.getUTCFullYear() + years);
  until.setUTCMilliseconds(0);
  return until;
}
