import { createHash, createSecretKey, hash, type KeyObject } from 'node:crypto';

/** Lower-case hex SHA-256 of bytes or of UTF-8 text, in one call. */
export function sha256(data: Uint8Array | string): string {
  return hash('sha256', data, 'hex');
}

/** SHA-256 and length of bytes that arrive piece by piece. */
export class StreamingSha256 {
  readonly #hash = createHash('sha256');
  #bytes = 0;

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
  }

  /** Passes blocks through and hashes them. */
  async *through<Block extends Uint8Array>(blocks: AsyncIterable<Block> | Iterable<Block>): AsyncGenerator<Block> {
    for await (const block of blocks) {
      this.update(block);
      yield block;
    }
  }

  /** Returns the lower-case hex digest of all bytes so far; more may follow. */
  soFar(): string {
    return this.#hash.copy().digest('hex');
  }

  /** Ends the computation; call once. */
  finish(): { sha256: string; bytes: number } {
    return { sha256: this.#hash.digest('hex'), bytes: this.#bytes };
  }
}

/** Returns a symmetric key as a `KeyObject`: `createHmac` with a Buffer costs six times as much on Node 24. */
export function toHmacKey(bytes: Uint8Array): KeyObject {
  return createSecretKey(bytes);
}
