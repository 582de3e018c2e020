/** Sizes are rounded up to it, so that what served one will serve the next. */
const UNIT_BYTES = 64 * 1024;

/**
 * Memory that is used again and again. Where gigabytes pass through, memory made for each piece of them is most of what
 * collecting garbage has to do.
 */
export class SpareMemory {
  readonly #most: number;
  readonly #spare: Uint8Array[] = [];

  /** @param most how many pieces are kept for later. */
  constructor(most: number) {
    this.#most = most;
  }

  /** At least so many bytes, whatever is in them. */
  take(bytes: number): Uint8Array {
    const at = this.#spare.findIndex(({ length }) => length >= bytes);
    const [found] = this.#spare.splice(Math.max(at, 0), 1);
    if (at >= 0 && found !== undefined) return found;
    // The one that was too small is let go of.
    return new Uint8Array(Math.ceil(bytes / UNIT_BYTES) * UNIT_BYTES);
  }

  giveBack(memory: Uint8Array): void {
    if (this.#spare.length < this.#most) this.#spare.push(memory);
  }
}
