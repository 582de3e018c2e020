import { hmac } from '@noble/hashes/hmac.js';
import { sha256, sha384, sha512 } from '@noble/hashes/sha2.js';
import { hexText, utf8Bytes } from '../../../core/bytes.ts';

/**
 * Subset of `node:crypto` that reading a bundle needs. It is synchronous; Web Crypto offers only asynchronous digests.
 */

const ALGORITHMS = { sha256, sha384, sha512 };
type Algorithm = keyof typeof ALGORITHMS;
type Data = Uint8Array | string;

interface Running {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
  clone(): Running;
}

class Hash {
  readonly #running: Running;

  constructor(running: Running) {
    this.#running = running;
  }

  update(data: Data): this {
    this.#running.update(toBytes(data));
    return this;
  }

  copy(): Hash {
    return new Hash(this.#running.clone());
  }

  digest(): Uint8Array;
  digest(encoding: 'hex'): string;
  digest(encoding?: 'hex'): Uint8Array | string {
    return toForm(this.#running.digest(), encoding);
  }
}

export function createHash(algorithm: Algorithm): Hash {
  return new Hash(ALGORITHMS[algorithm].create());
}

export function createHmac(algorithm: Algorithm, key: { export(): Uint8Array }): Hash {
  return new Hash(hmac.create(ALGORITHMS[algorithm], key.export()));
}

export function createSecretKey(bytes: Uint8Array): { export(): Uint8Array } {
  return { export: () => bytes };
}

export function hash(algorithm: Algorithm, data: Data, encoding: 'buffer' | 'hex' = 'hex'): Uint8Array | string {
  return toForm(ALGORITHMS[algorithm](toBytes(data)), encoding === 'hex' ? 'hex' : undefined);
}

function toBytes(data: Data): Uint8Array {
  return typeof data === 'string' ? utf8Bytes(data) : data;
}

function toForm(bytes: Uint8Array, encoding?: 'hex'): Uint8Array | string {
  return encoding === undefined ? bytes : hexText(bytes);
}
