import { type Container, LeftOver } from './container.ts';

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
