import type { BigIntStats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { verifyToken } from '../../core/timestamp/verify.ts';
import type { PackageReader } from '../chain/package.ts';
import { type DecodedRange, decodeRange, RANGE_BYTES, Slot } from '../decode/wasm/segments.ts';
import type { VerifyOptions } from './content.ts';
import { beginPackage, judgePackage, type VerifiedPackage } from './package-content.ts';
import type { RangeThreads } from './range-threads.ts';
import { RangeWorkers } from './range-workers.ts';
import { boundsOf, makeRanges, type Ranges, readerOf } from './ranges.ts';

export interface FileReadingOptions {
  /** Threads that decode in addition to this one. */
  threads: RangeThreads;
  signal?: AbortSignal | undefined;
  /** Number of bytes given to a thread at a time, at most `RANGE_BYTES`. */
  rangeBytes?: number;
}

interface FileReading {
  reader: PackageReader;
  /** Number of segments that were decoded out of order and taken. */
  segments: number;
}

/** Number of bytes read at a time for the reference decoder. */
const BLOCK_BYTES = 2 ** 18;

/**
 * Reads a package from a file, on several threads if that pays off. If the file changed meanwhile, the parts read at
 * different times are discarded, and one thread reads it again, each byte once.
 * @param begin creates a reader. The reader that has read the file is returned; the caller finishes and disposes of it.
 */
export async function readPackageFile(
  path: string,
  begin: () => PackageReader,
  options: FileReadingOptions,
): Promise<FileReading> {
  await using file = await open(path, 'r');
  using owned = new DisposableStack();
  const own = () => owned.use(begin());
  const kept = (reading: FileReading) => {
    owned.move();
    return reading;
  };
  const before = await file.stat(EXACT);
  const hasChanged = async () => before.isFile() && !isSame(before, await file.stat(EXACT));
  const ranges = makeRanges(before.isFile() ? Number(before.size) : 0, options.rangeBytes ?? RANGE_BYTES);
  const reading = new Reading(file, own(), before.isFile(), options.signal);
  try {
    const segments = await reading.readInRanges(ranges, options.threads);
    if (!(await hasChanged())) return kept({ reader: reading.reader, segments });
  } catch (error) {
    if (!(await hasChanged())) throw error;
  }
  reading.reader[Symbol.dispose]();
  const again = new Reading(file, own(), true, options.signal);
  // The threads have ended with the first reading.
  const segments = await again.readInRanges(makeRanges(0, RANGE_BYTES), options.threads);
  return kept({ reader: again.reader, segments });
}

const EXACT = { bigint: true } as const;

/** Compares size and ctime, which no program can set. */
function isSame(before: BigIntStats, after: BigIntStats): boolean {
  return before.size === after.size && before.ctimeNs === after.ctimeNs;
}

/** Reading of a file, from its first byte to its last. */
class Reading {
  readonly reader: PackageReader;
  readonly #file: FileHandle;
  readonly #hasOffsets: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #at = 0;
  #slot: Slot | null = null;

  constructor(file: FileHandle, reader: PackageReader, hasOffsets: boolean, signal: AbortSignal | undefined) {
    this.#file = file;
    this.reader = reader;
    this.#hasOffsets = hasOffsets;
    this.#signal = signal;
  }

  /** Folds range after range, whichever thread decoded them. Returns the number of segments taken. */
  async readInRanges(ranges: Ranges, threads: RangeThreads): Promise<number> {
    const workers = new RangeWorkers(this.#file.fd, ranges, threads);
    let taken = 0;
    try {
      for (let range = 0; range < ranges.owners.length; range++) {
        const { end } = boundsOf(ranges, range);
        while (this.#at < end && this.reader.segments === null) if ((await this.#push(end)) === 0) break;
        const { options, decoder = null } = this.reader.segments ?? {};
        if (options !== undefined) workers.begin(options);
        const others = await workers.claim(range, decoder);
        const decoded = others === null ? this.#decodeHere(end) : Slot.read(others);
        if (decoded !== null && (await this.#take(decoded)) && others !== null) taken++;
        while (this.#at < end) if ((await this.#push(end)) === 0) break;
        workers.noteFolded(range + 1);
        await new Promise(setImmediate);
        this.#signal?.throwIfAborted();
      }
      while ((await this.#push(Number.POSITIVE_INFINITY)) > 0);
      return taken;
    } finally {
      await workers.close();
    }
  }

  #decodeHere(end: number): DecodedRange | null {
    const { segments } = this.reader;
    if (segments === null || this.#at >= end) return null;
    const decoded = decodeRange(segments.decoder, readerOf(this.#file.fd), { start: this.#at, end });
    if (decoded === null || decoded.start === this.#at) return decoded;
    // The bytes before the segment are read first, possibly by the same decoder, so keep the columns.
    this.#slot ??= new Slot(Slot.allocate());
    return Slot.read(this.#slot.keep(decoded));
  }

  async #take({ columns, ...place }: DecodedRange): Promise<boolean> {
    const decoder = this.reader.segments?.decoder;
    if (decoder === undefined || place.start < this.#at) return false;
    while (this.#at < place.start) if ((await this.#push(place.start)) === 0) return false;
    if (!this.reader.splice({ ...place, batch: decoder.toBatch(columns) })) return false;
    this.#at = place.end;
    return true;
  }

  /** Reads a block of any form. Returns the number of bytes read. */
  async #push(end: number): Promise<number> {
    this.#signal?.throwIfAborted();
    const wanted = Math.min(BLOCK_BYTES, end - this.#at);
    const { bytesRead } = await this.#file.read(this.#block, 0, wanted, this.#hasOffsets ? this.#at : null);
    this.reader.push(this.#block.subarray(0, bytesRead));
    this.#at += bytesRead;
    return bytesRead;
  }
}

/** Verifies a package in a file by itself; see `verifyPackageContent`. */
export async function verifyPackage(
  file: string,
  options: VerifyOptions & Pick<FileReadingOptions, 'threads' | 'signal'>,
): Promise<VerifiedPackage> {
  using reader = (await readPackageFile(file, () => beginPackage(options), options)).reader;
  return judgePackage(reader, options, verifyToken);
}
