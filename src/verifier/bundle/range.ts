import type { FileHandle } from 'node:fs/promises';

const BLOCK = 256 * 1024;

/**
 * The bytes `start` to `start + length` of an open file in blocks; fewer only where the file is shorter.
 * `FileHandle.createReadStream` is no alternative: each stream leaves a `close` listener on the handle for good.
 */
export async function* readRange(handle: FileHandle, start: number, length: number): AsyncGenerator<Buffer> {
  let position = start;
  const end = start + length;
  while (position < end) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(Math.min(BLOCK, end - position)), {
      position,
    });
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
