import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';

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

/** Shows the protection of objects. */
export interface LockReader {
  /** Null when there is no such object. @throws EvidenceError `archive`, `store-refused`. */
  inspect(key: string): Promise<Inspected | null>;

  /** Reports whether nobody can delete the object for as long as it is held; null where this identity may not see it. */
  isHeld(key: string): Promise<boolean | null>;
}

/** A store of evidence, to be read. Keys are those that `checkKey` lets pass. */
export interface ReadableArchive {
  /** As people name it, and a command that they type: contains no secret. */
  readonly url: string;

  /** Null where the store locks nothing. */
  readonly locks: LockReader | null;

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
}

/** Length and SHA-256 of blocks as they come. */
export async function measure(blocks: AsyncIterable<Uint8Array>): Promise<Expected> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const block of blocks) {
    hash.update(block);
    bytes += block.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}
