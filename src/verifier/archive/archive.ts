import type { Readable } from 'node:stream';

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

/** Until then nobody can delete the version; RFC 3339. `governance` leaves a few who may lift it. */
export interface ObjectLock {
  mode: 'governance' | 'compliance';
  retain_until: string;
}

/** Facts that the caller knows of the content from making or receiving it. */
export interface Expected {
  /** Hex. */
  sha256: string;
  bytes: number;
}

export type ObjectSource = { file: string } | { bytes: Uint8Array };

export interface StoredObject {
  key: string;
  bytes: number;
  /** Set for what no `put` makes: it was put there by other means, and cannot be read through the archive. */
  irregular?: 'link' | 'special' | 'unreadable';
  /** The first version of this key, where the store keeps versions. It is the object, and the one that is read. */
  version_id?: string;
  /**
   * The thing that was put over the object later, so that other programs see that instead; with `same-content` they see
   * the same bytes.
   */
  covered_by?: 'version' | 'delete-marker' | 'same-content';
}

/** @param folder as keys begin that lie in it, e.g. `runs/2026-10/`. @param why for people. */
export type Unlisted = (folder: string, why: string) => void;

/** The answer of a store about an object that it locks, without sending it. */
export interface Inspected {
  bytes: number;
  version_id?: string;
  /** Hex; only where the store itself holds what it keeps to this digest. */
  sha256?: string;
  /** Null for none; `hidden` where this identity may not see whether there is one. */
  lock: ObjectLock | null | 'hidden';
  /** As far as it was shown: `Locks.isHeld` asks by name. */
  legal_hold: boolean;
}

/** Changes to the protection of objects; nothing here takes any of a retention away. */
export interface Locks {
  /** Null when there is no such object. @throws EvidenceError `archive`, `store-refused`. */
  inspect(key: string): Promise<Inspected | null>;

  /** Reports whether nobody can delete the object for as long as it is held; null where this identity may not see it. */
  isHeld(key: string): Promise<boolean | null>;

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
// Over ten members: it is the port of every store.
export interface Archive {
  /** As people name it, and a command that they type: contains no secret. */
  readonly url: string;

  /** Null where the store locks nothing. */
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

  /** @throws EvidenceError `not-found`, `archive`, and `unreadable` for what is no file but has its name. */
  read(key: string): Promise<Readable>;

  /** @throws EvidenceError as `read` does, and `unreadable` for an object of more than `maxBytes`. */
  readBytes(key: string, maxBytes: number): Promise<Uint8Array>;

  /** Null when there is no such object. @throws EvidenceError `archive`, `unreadable` as `read` does. */
  stat(key: string): Promise<{ bytes: number } | null>;

  /**
   * All objects whose key begins with `prefix`, which need not end at a slash, in the order of their UTF-8 bytes.
   * @param onUnlisted is told of a folder that cannot be listed; then the rest is listed.
   * @throws EvidenceError `archive`; without `onUnlisted`, `unreadable` for such a folder.
   */
  list(prefix: string, onUnlisted?: Unlisted): AsyncIterable<StoredObject>;

  /**
   * A file with the object's content that can be read at any offset, as a zip must be. Made in `directory` unless the
   * archive has such a file itself: it is to be read only.
   *
   * @throws EvidenceError as `read` does.
   */
  fetchFile(key: string, directory: string): Promise<string>;

  close(): Promise<void>;
}
