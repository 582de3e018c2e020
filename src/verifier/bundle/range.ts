import { readSync } from 'node:fs';
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
    const buffer = Buffer.allocUnsafe(Math.min(BLOCK, end - position));
    // A turn of another thread takes longer than to read a block that the system mostly has in memory.
    const bytesRead = readSync(handle.fd, buffer, { position });
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
