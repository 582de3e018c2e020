import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';
import { EvidenceError } from '../../core/errors.ts';
import { type Container, collect, LeftOver } from './container.ts';
import { readRange } from './range.ts';

const MAX_BLOCK = 256 * 1024;

/** A zip on a disk. */
export interface OpenFile extends Container {
  close(): Promise<void>;
}

/** @throws EvidenceError `not-found` when there is no such file, `unreadable` when it cannot be opened. */
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
  // zlib allocates a whole block even for a file of a few bytes, as most files of a bundle are.
  const inflate = createInflateRaw({ chunkSize: Math.min(Math.max(expected, 1024), MAX_BLOCK) });
  // Its failure is the iteration's below. It never settles when the data ends early: zlib then stops taking input.
  pipeline(readRange(handle, start, length), inflate).catch(() => undefined);
  try {
    for await (const block of inflate) yield block;
  } finally {
    inflate.destroy();
  }
  if (inflate.bytesWritten !== length)
    throw new LeftOver(`${length - inflate.bytesWritten} bytes after its compressed data belong to no file`);
}
