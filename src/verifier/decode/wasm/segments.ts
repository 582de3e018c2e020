import type { WasmColumns } from './batch.ts';
import type { WasmDecoder, WasmRun } from './decoder.ts';
import { SIZES } from './layout.ts';

/** Entries of a package that were decoded without those before them. Offsets are in the package. */
export interface DecodedRange<Columns = WasmColumns> {
  /** Of the first entry, and where the decoding ended. */
  start: number;
  end: number;
  /** What stands before `end`. */
  place: 'after' | 'next';
  columns: Columns;
}

/** As it is kept: without the bytes, which seldom anybody asks for, and which take longer to copy than all the rest. */
export type KeptRange = DecodedRange<Omit<WasmColumns, 'bytes'>>;

/** What follows a range is read with it, so that the entry that stands across its end is whole. */
const OVERLAP_BYTES = 16 * 1024;
export const RANGE_BYTES = SIZES.INPUT_BYTES - OVERLAP_BYTES;

const OPEN_OBJECT = 0x7b;

/**
 * Where an entry begins is found by trying: an object that the decoder takes is taken for one. Bytes that are made of
 * beginnings without end are not tried for ever.
 */
const MAX_TRIES = 256;

/** Puts bytes of the package from an offset on into memory, as many as there are and fit, and returns their number. */
export type ReadAt = (into: Uint8Array, offset: number) => number;

/**
 * Decodes the entries that begin in a range of a package, from the first one on that is found.
 * @returns columns in the decoder's memory, which it writes over; null where no entry is found.
 */
export function decodeRange(
  decoder: WasmDecoder,
  readAt: ReadAt,
  { start, end }: { start: number; end: number },
): DecodedRange | null {
  const filled = readAt(decoder.input.subarray(0, end - start + OVERLAP_BYTES), start);
  const found = findEntry(decoder, filled, end - start);
  if (found === null) return null;
  const { columns, place } = found.run;
  if (columns === null) return null;
  return {
    columns,
    start: start + found.at,
    end: start + found.run.end,
    place: place === 'after' ? 'after' : 'next',
  };
}

function findEntry(decoder: WasmDecoder, filled: number, limit: number): { at: number; run: WasmRun } | null {
  const { input } = decoder;
  let at = input.indexOf(OPEN_OBJECT);
  for (let tries = 0; tries < MAX_TRIES && at >= 0 && at < Math.min(filled, limit); tries++) {
    const run = decoder.run(at, filled, limit, 'next');
    if (run.columns !== null) return { at, run };
    at = input.indexOf(OPEN_OBJECT, at + 1);
  }
  return null;
}

/** For `readAgain`. */
export const READ_AGAIN_BYTES = RANGE_BYTES + OVERLAP_BYTES;

/**
 * The range whole again: its bytes are read from the package once more, when somebody asks for them. Most ask for one
 * entry; with a second one the rest of the range is read.
 * @param memory of `READ_AGAIN_BYTES`, for one range after the other.
 */
export function readAgain({ columns, ...range }: KeptRange, readAt: ReadAt, memory: Uint8Array): DecodedRange {
  const { starts, ends, count } = columns;
  const base = range.start - (starts[0] ?? 0);
  const read = { from: 0, to: 0, times: 0 };
  const bytes = (from: number, to: number) => {
    if (from < read.from || to > read.to) {
      read.from = from;
      read.to = read.times++ === 0 ? to : Math.max(to, ends[count - 1] ?? 0);
      readAt(memory.subarray(0, read.to - read.from), base + read.from);
    }
    return memory.subarray(from - read.from, to - read.from);
  };
  return { ...range, columns: { ...columns, bytes } };
}

/** Memory for the columns of one range, shared between threads. */
export class Slot {
  readonly #memory: SharedArrayBuffer;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = memory;
  }

  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(
      SIZES.MAX_ENTRIES * (2 * Float64Array.BYTES_PER_ELEMENT + 4 * Uint32Array.BYTES_PER_ELEMENT + 1 + 2 * MAX_DIGEST),
    );
  }

  /** @returns the same, in this memory. */
  keep(decoded: DecodedRange): KeptRange {
    const { bytes: _bytes, ...columns } = decoded.columns;
    const { digestBytes } = columns;
    let at = 0;
    const take = <T extends Float64Array | Uint32Array | Uint8Array>(column: T): T => {
      const make = column.constructor as new (memory: SharedArrayBuffer, at: number, length: number) => T;
      const copy = new make(this.#memory, at, column.length);
      copy.set(column);
      at += SIZES.MAX_ENTRIES * (column.BYTES_PER_ELEMENT === 1 ? digestBytes : column.BYTES_PER_ELEMENT);
      return copy;
    };
    return {
      ...decoded,
      columns: {
        ...columns,
        sequences: take(columns.sequences),
        times: take(columns.times),
        starts: take(columns.starts),
        ends: take(columns.ends),
        timestamps: take(columns.timestamps),
        timestampLengths: take(columns.timestampLengths),
        previous: take(columns.previous),
        digests: take(columns.digests),
        flags: take(columns.flags),
      },
    };
  }
}

const MAX_DIGEST = 64;
