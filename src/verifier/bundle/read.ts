import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';
import { EvidenceError } from '../../core/errors.ts';
import { type Bundle, readBundle } from './bundle.ts';
import { type Container, collect, LeftOver } from './container.ts';
import type { BundleLimits } from './content.ts';

export interface OpenBundle extends Bundle {
  close(): Promise<void>;
}

/**
 * Opens a bundle on disk; see `readBundle`.
 *
 * @param name of the bundle in errors.
 * @throws EvidenceError `not-found` if there is no such file, `unreadable` if it is not a complete zip file.
 */
export async function openBundle(path: string, limits: Partial<BundleLimits> = {}, name = path): Promise<OpenBundle> {
  const file = await openFile(path, name);
  try {
    return { ...(await readBundle(file, limits)), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

const MAX_BLOCK = 256 * 1024;

/** Zip on disk. */
interface OpenFile extends Container {
  close(): Promise<void>;
}

/** @throws EvidenceError `not-found` if there is no such file, `unreadable` if it cannot be opened. */
export async function openFile(path: string, name: string): Promise<OpenFile> {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    const code = error.code === 'ENOENT' || error.code === 'ENOTDIR' ? 'not-found' : 'unreadable';
    throw new EvidenceError(code, `cannot open the bundle ${path}: ${error.message}`, { cause: error });
  });
  const { size } = await handle.stat();
  return {
    name,
    size,
    read: (start, length) => collect(readRange(handle, start, length)),
    blocks: (start, length) => readRange(handle, start, length),
    inflated: (start, length, expected) => inflated(handle, start, length, expected),
    close: () => handle.close(),
  };
}

async function* inflated(handle: FileHandle, start: number, length: number, expected: number): AsyncGenerator<Buffer> {
  // zlib allocates a whole block even for a file of a few bytes, and most files of a bundle have only a few.
  const inflate = createInflateRaw({ chunkSize: Math.min(Math.max(expected, 1024), MAX_BLOCK) });
  // The loop below reports the failure. The promise never settles if the data ends early, because zlib then takes no
  // more input.
  pipeline(readRange(handle, start, length), inflate).catch(() => undefined);
  try {
    for await (const block of inflate) yield block;
  } finally {
    inflate.destroy();
  }
  if (inflate.bytesWritten !== length)
    throw new LeftOver(`${length - inflate.bytesWritten} bytes after its compressed data belong to no file`);
}

const BLOCK = 256 * 1024;

/**
 * Yields the bytes `start` to `start + length` of an open file in blocks, fewer if the file is shorter. Does not use
 * `FileHandle.createReadStream`, which leaves a `close` listener on the handle for each stream.
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
