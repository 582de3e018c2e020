import type { WasmColumns } from './batch.ts';
import type { WasmDecoder, WasmRun } from './decoder.ts';
import { SIZES } from './layout.ts';

/** Entries of a package that were decoded without those before them. Offsets are in the package. */
export interface DecodedRange {
  /** Offsets of the first entry and of the end of decoding. */
  start: number;
  end: number;
  /** Place at `end`. */
  place: 'after' | 'next';
  columns: WasmColumns;
}

/** Decoded range in a slot. Plain data, so that it can pass between threads. */
export interface KeptRange extends Omit<DecodedRange, 'columns'> {
  columns: Omit<WasmColumns, 'bytes'>;
  /** Text up to the last byte of the last entry: the hashed text is also the one that is shown. */
  text: Uint8Array;
  /** Offset of the text, on the same scale as `starts`. */
  textStart: number;
}

/** Number of bytes after a range that are read with it, so that an entry which crosses its end is complete. */
const OVERLAP_BYTES = 16 * 1024;
export const RANGE_BYTES = SIZES.INPUT_BYTES - OVERLAP_BYTES;

/** Length of the longest digest in bytes. */
const MAX_DIGEST = 64;

const OPEN_OBJECT = 0x7b;

/**
 * Maximum number of tries to find the beginning of an entry: any object that the decoder accepts is taken for one.
 * Bounds the work on bytes that hold nothing but beginnings.
 */
const MAX_TRIES = 256;

/** Reads bytes of the package from an offset on into memory, as many as exist and fit, and returns their number. */
export type ReadAt = (into: Uint8Array, offset: number) => number;

/**
 * Decodes the entries that begin in a range of a package, starting with the first that is found.
 * @returns columns in the decoder's memory, which its next run overwrites; null if no entry is found.
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

/**
 * Alignment of columns: shared memory is copied by words if both sides are aligned alike, and byte by byte, at a
 * seventh of the speed, otherwise.
 */
const WORD = Float64Array.BYTES_PER_ELEMENT;
const COLUMNS = 13;

/** Size of a slot: the columns of the maximum number of entries in a range, and its text. */
const SLOT_BYTES =
  SIZES.MAX_ENTRIES * (2 * Float64Array.BYTES_PER_ELEMENT + 4 * Uint32Array.BYTES_PER_ELEMENT + 1 + 5 * MAX_DIGEST) +
  SIZES.INPUT_BYTES +
  COLUMNS * WORD;

/** Memory for one range, shared between threads. */
export class Slot {
  readonly #memory: SharedArrayBuffer;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = memory;
  }

  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(SLOT_BYTES);
  }

  /** Copies the range into this memory. */
  keep({ columns: { bytes, ...columns }, ...range }: DecodedRange): KeptRange {
    let at = 0;
    const take = <T extends Float64Array | Uint32Array | Uint8Array>(column: T): T => {
      const make = column.constructor as new (memory: SharedArrayBuffer, at: number, length: number) => T;
      const copy = new make(this.#memory, at, column.length);
      copy.set(column);
      at += Math.ceil(column.byteLength / WORD) * WORD;
      return copy;
    };
    const kept = {
      ...columns,
      sequences: take(columns.sequences),
      times: take(columns.times),
      starts: take(columns.starts),
      ends: take(columns.ends),
      timestamps: take(columns.timestamps),
      timestampLengths: take(columns.timestampLengths),
      previous: take(columns.previous),
      stated: take(columns.stated),
      computed: take(columns.computed),
      statedSeals: take(columns.statedSeals),
      computedSeals: take(columns.computedSeals),
      flags: take(columns.flags),
    };
    const [first = 0, last = first] = [columns.starts[0], columns.ends.at(-1)];
    const textStart = first - (first % WORD);
    return { ...range, columns: kept, text: take(bytes(textStart, last)), textStart };
  }

  /** Returns the range as it was before it was kept. */
  static read({ columns, text, textStart, ...range }: KeptRange): DecodedRange {
    const bytes = (from: number, to: number) => text.subarray(from - textStart, to - textStart);
    return { ...range, columns: { ...columns, bytes } };
  }
}
