import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { EvidenceError } from '../../core/errors.ts';
import { FIRST_EPOCH } from './enums.ts';

/** Length of a master key. */
export const MASTER_KEY_BYTES = 32;

/** Number of cached keys; deriving a key again costs two HMACs. */
const CACHE_SIZE = 10_000;

const ID = /^e([1-9][0-9]{0,8})-[0-9a-f]{16}$/;

/** Returns the id by which entries refer to the key that seals a stream in an epoch. */
export function sealKeyId(streamId: string, epoch = FIRST_EPOCH): string {
  return `e${epoch}-${hash('sha256', streamId, 'hex').slice(0, 16)}`;
}

/** Key that an entry refers to. */
export interface FoundSealKey {
  id: string;
  epoch: number;
  key: KeyObject;
}

/** Seal keys of all streams, derived from one master key. */
export class DerivedSealKeys {
  readonly #masterKey: Uint8Array;
  readonly #pseudorandomKey: Buffer;
  readonly #cache = new Map<string, KeyObject>();

  /** @throws EvidenceError `unreadable` if `masterKey` is not `MASTER_KEY_BYTES` long. */
  constructor(masterKey: Uint8Array) {
    if (masterKey.length !== MASTER_KEY_BYTES)
      throw new EvidenceError('unreadable', `the master key has ${masterKey.length} bytes instead of 32`, {
        nextStep: 'Restore master.key from a backup. Without it, nothing can be sealed or verified.',
      });
    this.#masterKey = masterKey;
    // HKDF-Extract of RFC 5869 section 2.2, with no salt.
    this.#pseudorandomKey = createHmac('sha256', Buffer.alloc(32)).update(masterKey).digest();
  }

  /** Returns the key that seals a stream's entries in an epoch, and its id. */
  of(streamId: string, epoch: number): { id: string; key: KeyObject } {
    const id = sealKeyId(streamId, epoch);
    return { id, key: this.#key(streamId, id, epoch) };
  }

  /**
   * Returns the key that an entry of a stream refers to, with its epoch; null if the stream cannot have a key of this
   * id.
   */
  find(streamId: string, id: string): FoundSealKey | null {
    const epoch = Number(ID.exec(id)?.[1]);
    if (Number.isNaN(epoch)) return null;
    // A cached id was compared before. A well-formed id has no slash, so the cache name cannot refer to another stream.
    if (!this.#cache.has(`${id}/${streamId}`) && sealKeyId(streamId, epoch) !== id) return null;
    return { id, epoch, key: this.#key(streamId, id, epoch) };
  }

  /** Returns the bytes of a stream's key, to be handed to a party that checks seals. */
  reveal(streamId: string, epoch: number): { id: string; bytes: Uint8Array } {
    return { id: sealKeyId(streamId, epoch), bytes: this.#derive(streamId, epoch) };
  }

  /** Returns the master key for a thread of this process that derives its own keys. */
  forThread(): Uint8Array {
    return this.#masterKey;
  }

  /** Returns a mark that identifies the master key; it is derived and reveals nothing about the key. */
  mark(): string {
    return this.#expand('mark/1').toString('hex');
  }

  /** Returns the key of seals that only this platform makes and checks. It is not handed out. */
  ofRows(): KeyObject {
    return createSecretKey(this.#expand('rows/1'));
  }

  #key(streamId: string, id: string, epoch: number): KeyObject {
    const cacheName = `${id}/${streamId}`;
    const known = this.#cache.get(cacheName);
    if (known !== undefined) return known;
    // Uses a KeyObject, because createHmac with a Buffer takes six times as long on Node 24.
    const key = createSecretKey(this.#derive(streamId, epoch));
    if (this.#cache.size >= CACHE_SIZE) this.#cache.clear();
    this.#cache.set(cacheName, key);
    return key;
  }

  #derive(streamId: string, epoch: number): Buffer {
    return this.#expand(`seal/${epoch}/${streamId}`);
  }

  /**
   * Runs HKDF-Expand of RFC 5869 section 2.3 for one block. Node's hkdfSync refuses an `info` of more than 1,024 bytes,
   * which a stream id can exceed.
   */
  #expand(info: string): Buffer {
    return createHmac('sha256', this.#pseudorandomKey).update(`${info}\u0001`).digest();
  }
}
