import { joinBytes } from '../../core/bytes.ts';

/** Bytes of a zip, wherever they are stored: a file on disk, or one that was dropped on a page. */
export interface Container {
  /** Name for people. */
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
  /** Returns the bytes `start` to `start + length`, fewer if the container is shorter. Accepts any numbers. */
  read(start: number, length: number): Promise<Uint8Array>;
  /** Yields the same bytes in blocks. */
  blocks(start: number, length: number): AsyncIterable<Uint8Array>;
  /**
   * Inflates `length` bytes from `start` (RFC 1951), in blocks.
   * @param expected estimate of the inflated size, which is not enforced.
   * @throws LeftOver if the compressed data ends before the bytes do; another Error if it cannot be inflated.
   */
  inflated(start: number, length: number, expected: number): AsyncIterable<Uint8Array>;
}

/** Error about bytes after the end of compressed data, which belong to nothing. */
export class LeftOver extends Error {}

/** Returns exactly `length` bytes from `start`, or null if there are fewer. */
export async function readExactly(container: Container, start: number, length: number): Promise<Uint8Array | null> {
  if (start < 0 || !Number.isSafeInteger(start + length)) return null;
  const bytes = await container.read(start, length);
  return bytes.length === length ? bytes : null;
}

export async function collect(blocks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const list: Uint8Array[] = [];
  for await (const block of blocks) list.push(block);
  return joinBytes(list);
}

const BLOCK = 2 ** 20;

/**
 * Opens a zip in a `Blob`, e.g. a file that was dropped on a page; it is never held in memory as a whole.
 * @param name for people. @param onRead called with the number of bytes read.
 */
export function openBlob(blob: Blob, name: string, onRead: (bytes: number) => void = () => {}): Container {
  const read = async (start: number, length: number) => {
    const part = sliceOf(blob, start, length);
    onRead(part.size);
    return new Uint8Array(await part.arrayBuffer());
  };
  async function* blocks(start: number, length: number) {
    for (let at = 0; at < length; at += BLOCK) yield await read(start + at, Math.min(BLOCK, length - at));
  }
  async function* inflated(start: number, length: number) {
    const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(block, controller) {
        onRead(block.length);
        controller.enqueue(block);
      },
    });
    const reader = sliceOf(blob, start, length)
      .stream()
      .pipeThrough(counted)
      .pipeThrough(new DecompressionStream('deflate-raw'))
      .getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read().catch(asLeftOver);
        if (done) return;
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }
  return { name, size: blob.size, read, blocks, inflated };
}

/** Slices a blob. Excludes negative offsets, which `slice` counts from the end. */
function sliceOf(blob: Blob, start: number, length: number): Blob {
  return start < 0 || length < 0 ? blob.slice(0, 0) : blob.slice(start, start + length);
}

/**
 * Recognizes bytes after the end: an error like any other (Compression Standard, section 5), which Chromium calls junk.
 */
function asLeftOver(error: unknown): never {
  if (error instanceof TypeError && /junk|trailing|after/i.test(error.message)) throw new LeftOver(error.message);
  throw error;
}
