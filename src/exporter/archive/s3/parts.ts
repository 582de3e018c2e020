/**
 * Memory shared by the parts of all uploads. A part that does not fit waits; a part larger than the whole memory is
 * sent alone.
 */
export class PartMemory {
  readonly #bytes: number;
  readonly #free: Buffer[] = [];
  readonly #waiting: (() => void)[] = [];
  #inUse = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  async take(bytes: number): Promise<Buffer> {
    while (this.#inUse > 0 && this.#inUse + bytes > this.#bytes)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#inUse += bytes;
    const at = this.#free.findIndex((buffer) => buffer.length === bytes);
    const [buffer] = at < 0 ? [] : this.#free.splice(at, 1);
    return buffer ?? Buffer.allocUnsafeSlow(bytes);
  }

  give(buffer: Buffer): void {
    this.#inUse -= buffer.length;
    // Discards free buffers when nothing is in use, and keeps at most the limit: buffers of another size cannot be
    // reused.
    if (this.#inUse === 0) this.#free.length = 0;
    else if ((this.#free.length + 1) * buffer.length <= this.#bytes) this.#free.push(buffer);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Part with its number, from 1, and its content, which is a view of memory to be given back. */
export interface UploadPart {
  number: number;
  content: Buffer;
  memory: Buffer;
}

const MAX_PARTS = 10_000;
const MEBIBYTE = 2 ** 20;

/** Returns the part size for an object, which may have at most 10,000 parts. */
export function partSize(bytes: number, smallest: number): number {
  return Math.max(smallest, Math.ceil(bytes / MAX_PARTS / MEBIBYTE) * MEBIBYTE);
}

/** Splits blocks into parts of one size; the last part may be shorter. */
export async function* toParts(
  blocks: AsyncIterable<Uint8Array>,
  size: number,
  memory: PartMemory,
): AsyncGenerator<UploadPart> {
  let number = 0;
  let filling = await memory.take(size);
  let filled = 0;
  let handedOver = false;
  try {
    for await (const block of blocks) {
      for (let at = 0; at < block.length; ) {
        // Yields a full part only if more bytes follow, so that the last part is not empty.
        if (filled === size) {
          number += 1;
          handedOver = true;
          yield { number, content: filling, memory: filling };
          filling = await memory.take(size);
          handedOver = false;
          filled = 0;
        }
        const step = Math.min(size - filled, block.length - at);
        filling.set(block.subarray(at, at + step), filled);
        filled += step;
        at += step;
      }
    }
    handedOver = true;
    yield { number: number + 1, content: filling.subarray(0, filled), memory: filling };
  } finally {
    if (!handedOver) memory.give(filling);
  }
}
