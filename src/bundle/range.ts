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

/** Exactly `length` bytes from `start`, or null where the file has fewer. */
export async function readExactly(handle: FileHandle, start: number, length: number): Promise<Buffer | null> {
  if (start < 0 || !Number.isSafeInteger(start + length)) return null;
  const bytes = await collect(readRange(handle, start, length));
  return bytes.length === length ? bytes : null;
}

export async function collect(blocks: AsyncIterable<Buffer>): Promise<Buffer> {
  const list: Buffer[] = [];
  for await (const block of blocks) list.push(block);
  return Buffer.concat(list);
}
