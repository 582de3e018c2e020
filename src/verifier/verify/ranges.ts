import { readSync } from 'node:fs';
import type { ReadAt } from '../decode/wasm/segments.ts';

/**
 * Bytes of a file in ranges of equal length. The owner of a range decodes it, lowest range first; no thread is more
 * than `WINDOW` ranges ahead of the thread that folds them. Plain data, shared between threads.
 */
export interface Ranges {
  /** Length of each range except the last, which ends with the file. */
  bytes: number;
  fileBytes: number;
  /** Owner of each range; 0 if unclaimed. */
  owners: Int32Array<SharedArrayBuffer>;
  /** Single number: the count of folded ranges. */
  folded: Int32Array<SharedArrayBuffer>;
}

/** Maximum number of ranges ahead of the fold; bounds the memory for segments. */
export const WINDOW = 6;

export function makeRanges(fileBytes: number, bytes: number): Ranges {
  const count = Math.max(1, Math.ceil(fileBytes / bytes));
  const shared = (length: number) => new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT));
  return { bytes, fileBytes, owners: shared(count), folded: shared(1) };
}

/** Returns offsets in the file. */
export function boundsOf({ bytes, fileBytes }: Ranges, range: number): { start: number; end: number } {
  return { start: Math.min(range * bytes, fileBytes), end: Math.min((range + 1) * bytes, fileBytes) };
}

/** Claims a range if it has no owner, and returns its owner. */
export function claim({ owners }: Ranges, range: number, owner: number): number {
  return Atomics.compareExchange(owners, range, 0, owner) || owner;
}

/** Claims the first unclaimed range in the window; returns null if there is none. */
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

/** Waits until there may be more to claim; returns false if all ranges were folded. */
export function waitForRanges({ folded, owners }: Ranges): boolean {
  const count = Atomics.load(folded, 0);
  if (count >= owners.length) return false;
  Atomics.wait(folded, 0, count, MAX_WAIT_MS);
  return true;
}

/** Maximum wait: a range folded between the check and the wait is then noticed. */
const MAX_WAIT_MS = 20;

/** Returns a function that reads a file. @param file file descriptor. */
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
