import { readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { PackageReader } from '../chain/package.ts';
import type { Fill } from '../chain/regular-reader.ts';
import type { RangeThreads } from './range-threads.ts';
import { RangeWorkers } from './range-workers.ts';
import { boundsOf, makeRanges, type Ranges } from './ranges.ts';

export interface FileReadingOptions {
  /** Those that read besides this one. */
  threads: RangeThreads;
  signal?: AbortSignal | undefined;
  /** The least that is given to another thread at a time. */
  rangeBytes?: number;
}

export interface FileReading {
  reader: PackageReader;
  /** How many stretches were read by other threads. */
  stretches: number;
}

/** What is kept of a stretch until it is its turn is bounded by the number of ranges. */
const MAX_RANGES = 64;
const RANGE_BYTES = 2 ** 20;
/** Read at a time where entries are not regular. */
const BLOCK_BYTES = 2 ** 18;
/** After so many, what else there is to do has its turn. */
const TURN_BYTES = 8 * 2 ** 20;

/**
 * Reads a package from a file, on several threads if that is worth it. Where the file changed meanwhile, what threads
 * have read of it at different times is given up, and it is read again by one.
 * @param begin makes a reader; the one that has read the file is returned, to be finished and disposed of.
 */
export async function readPackageFile(
  path: string,
  begin: () => PackageReader,
  options: FileReadingOptions,
): Promise<FileReading> {
  const file = await open(path, 'r');
  using owned = new DisposableStack();
  const own = () => owned.use(begin());
  const kept = (reading: FileReading) => {
    owned.move();
    return reading;
  };
  try {
    const before = await file.stat();
    const ranges = rangesOf(before.isFile() ? before.size : 0, options);
    const reading = new Reading(file, own(), before.isFile(), options.signal);
    const stretches = await reading.readInRanges(ranges, options.threads.workers);
    const after = await file.stat();
    if (stretches === 0 || (after.size === before.size && after.mtimeMs === before.mtimeMs))
      return kept({ reader: reading.reader, stretches });
    reading.reader[Symbol.dispose]();
    const again = new Reading(file, own(), true, options.signal);
    return kept({ reader: again.reader, stretches: await again.readInRanges(makeRanges(after.size, 1), []) });
  } finally {
    await file.close();
  }
}

function rangesOf(bytes: number, { threads, rangeBytes = RANGE_BYTES }: FileReadingOptions): Ranges {
  const count = threads.workers.length === 0 ? 1 : Math.min(Math.floor(bytes / rangeBytes), MAX_RANGES);
  return makeRanges(bytes, Math.max(count, 1));
}

/** One reading of a file, from its first byte to its last. */
class Reading {
  readonly reader: PackageReader;
  readonly #file: FileHandle;
  readonly #hasOffsets: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #at = 0;

  constructor(file: FileHandle, reader: PackageReader, hasOffsets: boolean, signal: AbortSignal | undefined) {
    this.#file = file;
    this.reader = reader;
    this.#hasOffsets = hasOffsets;
    this.#signal = signal;
  }

  /** From the first range on, while workers come from the last. Returns how many of their stretches were taken. */
  async readInRanges(ranges: Ranges, threads: RangeThreads['workers']): Promise<number> {
    const workers = new RangeWorkers(this.#file.fd, ranges, threads);
    let taken = 0;
    try {
      for (let range = 0; range < ranges.owners.length; range++) {
        const stretch = await workers.claim(range);
        if (stretch !== null) {
          await this.#readTo(stretch.start, workers);
          if (this.reader.take(stretch)) {
            this.#at = stretch.end;
            taken++;
          }
        }
        await this.#readTo(boundsOf(ranges, range).end, workers);
      }
      while ((await this.#push(Number.POSITIVE_INFINITY)) > 0);
      return taken;
    } finally {
      await workers.close();
    }
  }

  /** But for an entry that is not whole before `end`. */
  async #readTo(end: number, workers: RangeWorkers): Promise<void> {
    while (this.#at < end) {
      const { bytes, isOpen } = this.reader.pull(this.#fillTo(Math.min(end, this.#at + TURN_BYTES)));
      this.#at += bytes;
      if (isOpen && bytes === 0) return;
      if (!isOpen && (await this.#push(end)) === 0) return;
      const stretches = this.reader.findStretches();
      if (stretches !== null) workers.begin(stretches);
      await setImmediate();
      this.#signal?.throwIfAborted();
    }
  }

  #fillTo(end: number): Fill {
    let at = this.#at;
    return (into) => {
      const from = at;
      while (at < end && at - from < into.length) {
        const bytes = readSync(this.#file.fd, into, at - from, Math.min(into.length - (at - from), end - at), at);
        if (bytes === 0) break;
        at += bytes;
      }
      return at - from;
    };
  }

  /** Reads a block, however its bytes are written. Returns how many there were. */
  async #push(end: number): Promise<number> {
    this.#signal?.throwIfAborted();
    const wanted = Math.min(BLOCK_BYTES, end - this.#at);
    const { bytesRead } = await this.#file.read(this.#block, 0, wanted, this.#hasOffsets ? this.#at : null);
    this.reader.push(this.#block.subarray(0, bytesRead));
    this.#at += bytesRead;
    return bytesRead;
  }
}
