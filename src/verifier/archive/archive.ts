import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';

/**
 * Lock of an object version: until `retain_until` (RFC 3339), no one can delete it. With `governance`, a few can lift
 * it.
 */
export interface ObjectLock {
  mode: 'governance' | 'compliance';
  retain_until: string;
}

/** Facts about content that the caller knows from making or receiving it. */
export interface Expected {
  /** Hex. */
  sha256: string;
  bytes: number;
}

export interface StoredObject {
  key: string;
  bytes: number;
  /** Kind of an object that no `put` makes: it came there by other means and cannot be read through the archive. */
  irregular?: 'link' | 'special' | 'unreadable';
  /** First version of this key, if the store keeps versions: it is the object, and reads return it. */
  version_id?: string;
  /**
   * Kind of version stored over the object later, which other programs see instead; with `same-content` they see the
   * same bytes.
   */
  covered_by?: 'version' | 'delete-marker' | 'same-content';
}

/** @param folder prefix of the keys in it, e.g. `runs/2026-10/`. @param why reason for people. */
export type Unlisted = (folder: string, why: string) => void;

/** Statement of a store about an object that it locks, without the content. */
export interface Inspected {
  bytes: number;
  version_id?: string;
  /** Hex; only if the store itself verifies stored content against this digest. */
  sha256?: string;
  /** Null for none; `hidden` if this identity may not see it. */
  lock: ObjectLock | null | 'hidden';
  /** Legal hold as far as shown; `LockReader.isHeld` asks for it explicitly. */
  legal_hold: boolean;
}

/** Reads the protection of objects. */
export interface LockReader {
  /** Returns null if there is no such object. @throws EvidenceError `archive`, `store-refused`. */
  inspect(key: string): Promise<Inspected | null>;

  /** Reports whether a legal hold prevents deletion of the object; null if this identity may not see it. */
  isHeld(key: string): Promise<boolean | null>;
}

/** Store of evidence, for reading. Keys are those that `checkKey` accepts. */
export interface ReadableArchive {
  /** Address as people write it, also in commands; contains no secret. */
  readonly url: string;

  /** Null if the store locks nothing. */
  readonly locks: LockReader | null;

  /** @throws EvidenceError `not-found`, `archive`, and `unreadable` if a non-file has this name. */
  read(key: string): Promise<Readable>;

  /** @throws EvidenceError like `read`, and `unreadable` if the object has more than `maxBytes`. */
  readBytes(key: string, maxBytes: number): Promise<Uint8Array>;

  /** Returns null if there is no such object. @throws EvidenceError `archive`; `unreadable` like `read`. */
  stat(key: string): Promise<{ bytes: number } | null>;

  /**
   * Yields all objects whose key begins with `prefix`, which need not end with a slash, in the order of their UTF-8
   * bytes.
   * @param onUnlisted called for a folder that cannot be listed; the other folders are still listed.
   * @throws EvidenceError `archive`; without `onUnlisted`, `unreadable` for such a folder.
   */
  list(prefix: string, onUnlisted?: Unlisted): AsyncIterable<StoredObject>;

  /**
   * Returns the path of a file with the object's content, for reading at any offset, as a zip requires. The file is
   * made in `directory` unless the archive has such a file itself; it must not be changed.
   *
   * @throws EvidenceError like `read`.
   */
  fetchFile(key: string, directory: string): Promise<string>;
}

/** Returns the length and SHA-256 of blocks as they arrive. */
export async function measure(blocks: AsyncIterable<Uint8Array>): Promise<Expected> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const block of blocks) {
    hash.update(block);
    bytes += block.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}
