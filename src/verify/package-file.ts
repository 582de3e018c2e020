import { type FileHandle, open } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { PackageReader } from '../chain/package.ts';
import { RangeWorkers } from './range-workers.ts';
import { boundsOf, makeRanges, type Ranges } from './ranges.ts';

export interface FileReadingOptions {
  /** How many threads read a file; null for as many as there are cores, if it is large enough to gain. */
  threads: number | null;
  signal?: AbortSignal | undefined;
  /** The least that is given to another thread at a time. */
  rangeBytes?: number;
  /** Run by each of the other threads. */
  program?: URL;
}

export interface FileReading {
  reader: PackageReader;
  /** How many stretches were read by other threads. */
  stretches: number;
}

/** Below it the start of a thread costs more than it saves. */
const LARGE_FILE_BYTES = 32 * 2 ** 20;
/** More than these gain little beside the start of the program. */
const MAX_THREADS = 4;
/** What is kept of a stretch until it is its turn is bounded by the number of ranges. */
const MAX_RANGES = 64;
const RANGE_BYTES = 2 ** 20;
const BLOCK_BYTES = 2 ** 20;

/**
 * Reads a package from a file, on several threads if that is worth it. Where the file changed meanwhile, what threads
 * have read of it at different times is given up, and it is read again by one.
 * @param begin makes a reader; the one that has read the file is returned, to be finished.
 */
export async function readPackageFile(
  path: string,
  begin: () => PackageReader,
  options: FileReadingOptions,
): Promise<FileReading> {
  const file = await open(path, 'r');
  try {
    const before = await file.stat();
    const blocks = new FileBlocks(file, before.isFile(), options.signal);
    const { threads, count } = planOf(before.isFile() ? before.size : 0, options);
    if (count > 1) {
      const reader = begin();
      const ranges = makeRanges(before.size, count);
      const stretches = await readInRanges(blocks, reader, ranges, { ...options, threads });
      const after = await file.stat();
      if (stretches === 0 || (after.size === before.size && after.mtimeMs === before.mtimeMs))
        return { reader, stretches };
      reader.finishEach();
    }
    const reader = begin();
    for await (const block of blocks.read(0, Number.POSITIVE_INFINITY)) reader.push(block);
    return { reader, stretches: 0 };
  } finally {
    await file.close();
  }
}

function planOf(bytes: number, { threads: asked, rangeBytes = RANGE_BYTES }: FileReadingOptions) {
  const threads = asked ?? (bytes < LARGE_FILE_BYTES ? 1 : Math.min(availableParallelism(), MAX_THREADS));
  return { threads, count: threads === 1 ? 1 : Math.min(Math.floor(bytes / rangeBytes), MAX_RANGES) };
}

/** From the first range on, while workers come from the last. Returns how many of their stretches were taken. */
async function readInRanges(
  blocks: FileBlocks,
  reader: PackageReader,
  ranges: Ranges,
  { threads, program }: FileReadingOptions & { threads: number },
): Promise<number> {
  const workers = new RangeWorkers(blocks.file.fd, ranges, threads - 1, program);
  let at = 0;
  let taken = 0;
  const readTo = async (end: number) => {
    for await (const block of blocks.read(at, end)) {
      reader.push(block);
      const stretches = reader.findStretches();
      if (stretches !== null) workers.begin(stretches);
      at += block.length;
    }
  };
  try {
    for (let range = 0; range < ranges.owners.length; range++) {
      const stretch = await workers.claim(range);
      if (stretch !== null) {
        await readTo(stretch.start);
        if (reader.take(stretch)) {
          at = stretch.end;
          taken++;
        }
      }
      await readTo(boundsOf(ranges, range).end);
    }
    await readTo(Number.POSITIVE_INFINITY);
    return taken;
  } finally {
    await workers.close();
  }
}

/** A file's bytes in blocks, the next of which is read meanwhile: each is valid only until the next is asked for. */
class FileBlocks {
  readonly file: FileHandle;
  readonly #hasOffsets: boolean;
  readonly #signal: AbortSignal | undefined;
  #now = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #then = Buffer.allocUnsafeSlow(BLOCK_BYTES);

  constructor(file: FileHandle, hasOffsets: boolean, signal: AbortSignal | undefined) {
    this.file = file;
    this.#hasOffsets = hasOffsets;
    this.#signal = signal;
  }

  /** @param start where a file without offsets is. */
  async *read(start: number, end: number): AsyncGenerator<Uint8Array> {
    let at = start;
    const read = (buffer: Buffer) =>
      this.file.read(buffer, 0, Math.max(0, Math.min(BLOCK_BYTES, end - at)), this.#hasOffsets ? at : null);
    let coming = read(this.#now);
    try {
      for (;;) {
        this.#signal?.throwIfAborted();
        const { bytesRead } = await coming;
        if (bytesRead === 0) return;
        at += bytesRead;
        coming = read(this.#then);
        yield this.#now.subarray(0, bytesRead);
        [this.#now, this.#then] = [this.#then, this.#now];
      }
    } finally {
      await coming.catch(() => undefined);
    }
  }
}
