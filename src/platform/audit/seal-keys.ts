import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { EvidenceError } from '../../core/errors.ts';
import { FIRST_EPOCH } from './enums.ts';

/** Master keys are this long. */
export const MASTER_KEY_BYTES = 32;

/** Keys kept ready; deriving one again costs two HMACs. */
const CACHE_SIZE = 10_000;

const ID = /^e([1-9][0-9]{0,8})-[0-9a-f]{16}$/;

/** The name by which entries refer to the key that seals a stream in an epoch. */
export function sealKeyId(streamId: string, epoch = FIRST_EPOCH): string {
  return `e${epoch}-${hash('sha256', streamId, 'hex').slice(0, 16)}`;
}

/** The key that an entry names. */
export interface FoundSealKey {
  id: string;
  epoch: number;
  key: KeyObject;
}

/** The seal keys of all streams, derived from one master key. */
export class DerivedSealKeys {
  readonly #masterKey: Uint8Array;
  readonly #pseudorandomKey: Buffer;
  readonly #cache = new Map<string, KeyObject>();

  /** @throws EvidenceError `unreadable` when `masterKey` is not `MASTER_KEY_BYTES` long. */
  constructor(masterKey: Uint8Array) {
    if (masterKey.length !== MASTER_KEY_BYTES)
      throw new EvidenceError('unreadable', `the master key has ${masterKey.length} bytes instead of 32`, {
        nextStep: 'Restore master.key from a backup: without it nothing can be sealed or verified.',
      });
    this.#masterKey = masterKey;
    // HKDF-Extract of RFC 5869 section 2.2, with no salt.
    this.#pseudorandomKey = createHmac('sha256', Buffer.alloc(32)).update(masterKey).digest();
  }

  /** The key under which the entries of a stream are sealed in an epoch, and its id. */
  of(streamId: string, epoch: number): { id: string; key: KeyObject } {
    const id = sealKeyId(streamId, epoch);
    return { id, key: this.#key(streamId, id, epoch) };
  }

  /** The key named by an entry of a stream, with its epoch, or null when the stream can have no key of this name. */
  find(streamId: string, id: string): FoundSealKey | null {
    const epoch = Number(ID.exec(id)?.[1]);
    if (Number.isNaN(epoch)) return null;
    // A name that is kept was compared before; one that is well-formed has no slash, so it is of this stream.
    if (!this.#cache.has(`${id}/${streamId}`) && sealKeyId(streamId, epoch) !== id) return null;
    return { id, epoch, key: this.#key(streamId, id, epoch) };
  }

  /** The bytes of a stream's key, to be handed to somebody who shall be able to check seals. */
  reveal(streamId: string, epoch: number): { id: string; bytes: Uint8Array } {
    return { id: sealKeyId(streamId, epoch), bytes: this.#derive(streamId, epoch) };
  }

  /** The master key, for a thread of this process that has keys of its own. */
  forThread(): Uint8Array {
    return this.#masterKey;
  }

  /** By what the master key is known again: it is derived, and says nothing of it. */
  mark(): string {
    return this.#expand('mark/1').toString('hex');
  }

  /** The key of seals that only this platform makes and checks. It is not handed out. */
  ofRows(): KeyObject {
    return createSecretKey(this.#expand('rows/1'));
  }

  #key(streamId: string, id: string, epoch: number): KeyObject {
    const cacheName = `${id}/${streamId}`;
    const known = this.#cache.get(cacheName);
    if (known !== undefined) return known;
    // A KeyObject: createHmac with a Buffer costs six times as much on Node 24.
    const key = createSecretKey(this.#derive(streamId, epoch));
    if (this.#cache.size >= CACHE_SIZE) this.#cache.clear();
    this.#cache.set(cacheName, key);
    return key;
  }

  #derive(streamId: string, epoch: number): Buffer {
    return this.#expand(`seal/${epoch}/${streamId}`);
  }

  /**
   * HKDF-Expand of RFC 5869 section 2.3 for one block; node's hkdfSync refuses an `info` above 1,024 bytes, which a
   * stream id can exceed.
   */
  #expand(info: string): Buffer {
    return createHmac('sha256', this.#pseudorandomKey).update(`${info}\u0001`).digest();
  }
}
