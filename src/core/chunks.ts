/** Combines bytes that arrive in pieces into blocks of a useful size. */
export class Blocks {
  readonly #bytes: number;
  readonly #onBlock: (block: Uint8Array) => void;
  #storage: Uint8Array | null = null;
  #length = 0;

  /** @param onBlock called with each block, which is valid only during the call. */
  constructor(bytes: number, onBlock: (block: Uint8Array) => void) {
    this.#bytes = bytes;
    this.#onBlock = onBlock;
  }

  push(piece: Uint8Array): void {
    if (this.#length === 0 && piece.length >= this.#bytes) {
      this.#onBlock(piece);
      return;
    }
    this.#storage ??= new Uint8Array(this.#bytes);
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + this.#bytes - this.#length);
      this.#storage.set(part, this.#length);
      this.#length += part.length;
      at += part.length;
      if (this.#length === this.#bytes) this.flush();
    }
  }

  /** Delivers the pending bytes as a shorter block. */
  flush(): void {
    if (this.#storage === null || this.#length === 0) return;
    const block = this.#storage.subarray(0, this.#length);
    this.#length = 0;
    this.#onBlock(block);
  }
}

/**
 * Yields pieces as blocks of `bytes` bytes, the last one shorter. Each block is valid only until the next is requested.
 * If the source fails, yields the bytes before the failure, then throws.
 */
export async function* inBlocks(pieces: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  const storage = new Uint8Array(bytes);
  let length = 0;
  let failure: { error: unknown } | null = null;
  try {
    for await (const piece of pieces) {
      for (let at = 0; at < piece.length; ) {
        const part = piece.subarray(at, at + bytes - length);
        storage.set(part, length);
        length += part.length;
        at += part.length;
        if (length < bytes) continue;
        length = 0;
        yield storage;
      }
    }
  } catch (error) {
    failure = { error };
  }
  if (length > 0) yield storage.subarray(0, length);
  if (failure !== null) throw failure.error;
}

/**
 * Yields texts and bytes as UTF-8 in blocks of at most `bytes` bytes, each valid only until the next is requested. A
 * buffer for each piece would be garbage as large as the document.
 */
export function* toBlocks(pieces: Iterable<string | Uint8Array>, bytes: number): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  const block = new Uint8Array(bytes);
  let length = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      const free = block.subarray(length);
      const { read, written } =
        typeof piece === 'string' ? encoder.encodeInto(piece.slice(from), free) : copyInto(piece.subarray(from), free);
      from += read;
      length += written;
      if (from === piece.length) continue;
      yield block.subarray(0, length);
      length = 0;
    }
  }
  if (length > 0) yield block.subarray(0, length);
}

function copyInto(piece: Uint8Array, free: Uint8Array): { read: number; written: number } {
  const part = piece.subarray(0, free.length);
  free.set(part);
  return { read: part.length, written: part.length };
}

/**
 * Size of a write: Linux serves up to 32 KiB of pages from free lists; finding 64 KiB in one piece takes longer than
 * writing them.
 */
const WRITE_BYTES = 48 * 1024;

/** Yields a block in pieces that are cheap to write to a file. */
export function* toWrites(block: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < block.length; at += WRITE_BYTES) yield block.subarray(at, at + WRITE_BYTES);
}
