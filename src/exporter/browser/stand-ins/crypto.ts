import { hmac } from '@noble/hashes/hmac.js';
import { sha256, sha384, sha512 } from '@noble/hashes/sha2.js';

/** As much of `node:crypto` as reading a bundle takes. A browser's own digests are only to be had asynchronously. */

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

  update(data: Data, encoding?: BufferEncoding): this {
    this.#running.update(toBytes(data, encoding));
    return this;
  }

  copy(): Hash {
    return new Hash(this.#running.clone());
  }

  digest(encoding?: BufferEncoding): Uint8Array | string {
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

export function hash(
  algorithm: Algorithm,
  data: Data,
  encoding: BufferEncoding | 'buffer' = 'hex',
): Uint8Array | string {
  return toForm(ALGORITHMS[algorithm](toBytes(data)), encoding === 'buffer' ? undefined : encoding);
}

function toBytes(data: Data, encoding: BufferEncoding = 'utf8'): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data, encoding) : data;
}

function toForm(bytes: Uint8Array, encoding?: BufferEncoding): Uint8Array | string {
  const buffer = Buffer.from(bytes);
  return encoding === undefined ? buffer : buffer.toString(encoding);
}
