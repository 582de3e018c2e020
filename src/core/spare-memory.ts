/** Unit to which sizes are rounded up, so that a buffer also fits the next request. */
const UNIT_BYTES = 64 * 1024;

/**
 * Pool of reusable buffers. If gigabytes pass through, a new buffer for each piece would cause most of the garbage
 * collection.
 */
export class SpareMemory {
  readonly #most: number;
  readonly #spare: Uint8Array[] = [];

  /** @param most maximum number of buffers kept. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Returns a buffer of at least `bytes` bytes with undefined content. */
  take(bytes: number): Uint8Array {
    const at = this.#spare.findIndex(({ length }) => length >= bytes);
    const [found] = this.#spare.splice(Math.max(at, 0), 1);
    if (at >= 0 && found !== undefined) return found;
    // The buffer that was too small is dropped.
    return new Uint8Array(Math.ceil(bytes / UNIT_BYTES) * UNIT_BYTES);
  }

  giveBack(memory: Uint8Array): void {
    if (this.#spare.length < this.#most) this.#spare.push(memory);
  }
}
