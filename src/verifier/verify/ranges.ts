import { readSync } from 'node:fs';
import type { ReadAt } from '../decode/wasm/segments.ts';

/**
 * A file's bytes in ranges of equal length. Whoever claims a range decodes it, the first ones first; no thread is more
 * than `WINDOW` ranges ahead of the one that folds them. Plain data, shared between threads.
 */
export interface Ranges {
  /** The bytes of each but the last, which goes to the end of the file. */
  bytes: number;
  fileBytes: number;
  /** 0: nobody's; else who has claimed it. */
  owners: Int32Array<SharedArrayBuffer>;
  /** One number: how many were folded. */
  folded: Int32Array<SharedArrayBuffer>;
}

/** It bounds the memory that segments are kept in. */
export const WINDOW = 6;

export function makeRanges(fileBytes: number, bytes: number): Ranges {
  const count = Math.max(1, Math.ceil(fileBytes / bytes));
  const shared = (length: number) => new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT));
  return { bytes, fileBytes, owners: shared(count), folded: shared(1) };
}

/** Offsets in the file. */
export function boundsOf({ bytes, fileBytes }: Ranges, range: number): { start: number; end: number } {
  return { start: Math.min(range * bytes, fileBytes), end: Math.min((range + 1) * bytes, fileBytes) };
}

/** Returns the owner of a range: the one who asks, if it had none. */
export function claim({ owners }: Ranges, range: number, owner: number): number {
  return Atomics.compareExchange(owners, range, 0, owner) || owner;
}

/** The first range that is nobody's and within the window, claimed; null for none. */
export function claimNext(ranges: Ranges, owner: number): number | null {
  const first = Atomics.load(ranges.folded, 0);
  const end = Math.min(first + WINDOW, ranges.owners.length);
  for (let range = first; range < end; range++)
    if (Atomics.compareExchange(ranges.owners, range, 0, owner) === 0) return range;
  return null;
}

export function noteFolded({ folded }: Ranges, count: number): void {
  Atomics.store(folded, 0, count);
  Atomics.notify(folded, 0);
}

/** Waits until there is more to claim. False where all ranges were folded. */
export function waitForRanges({ folded, owners }: Ranges): boolean {
  const count = Atomics.load(folded, 0);
  if (count >= owners.length) return false;
  Atomics.wait(folded, 0, count, MAX_WAIT_MS);
  return true;
}

/** The longest wait: a range that was folded between a look at it and the wait is seen then. */
const MAX_WAIT_MS = 20;

/** Reads a file. @param file number of an open one. */
export function readerOf(file: number): ReadAt {
  return (into, offset) => {
    let filled = 0;
    while (filled < into.length) {
      const bytes = readSync(file, into, filled, into.length - filled, offset + filled);
      if (bytes === 0) break;
      filled += bytes;
    }
    return filled;
  };
}
