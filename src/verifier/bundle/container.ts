import { joinBytes } from '../../core/bytes.ts';

/** The bytes of a zip, wherever they lie: a file on a disk, or one that was dropped on a page. */
export interface Container {
  /** For people. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** The bytes `start` to `start + length`; fewer only where it is shorter. Any numbers may be asked for. */
  read(start: number, length: number): Promise<Uint8Array>;
  /** The same, in blocks. */
  blocks(start: number, length: number): AsyncIterable<Uint8Array>;
  /**
   * Inflates `length` bytes from `start` (RFC 1951), in blocks.
   * @param expected how many bytes that may be; nothing is held to it.
   * @throws LeftOver when the compressed data ends before the bytes do; another Error when it cannot be inflated.
   */
  inflated(start: number, length: number, expected: number): AsyncIterable<Uint8Array>;
}

/** Bytes after the end of compressed data that belong to nothing. */
export class LeftOver extends Error {}

/** Exactly `length` bytes from `start`, or null where there are fewer. */
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
 * A zip in a `Blob`, e.g. a file that was dropped on a page; it is never held whole.
 * @param name for people. @param onRead is told how many bytes were read.
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

/** A negative offset would be one from the end. */
function sliceOf(blob: Blob, start: number, length: number): Blob {
  return start < 0 || length < 0 ? blob.slice(0, 0) : blob.slice(start, start + length);
}

/** Compression Standard, section 5: bytes after the end are an error like any other; Chromium calls them junk. */
function asLeftOver(error: unknown): never {
  if (error instanceof TypeError && /junk|trailing|after/i.test(error.message)) throw new LeftOver(error.message);
  throw error;
}
