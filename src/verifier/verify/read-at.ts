import { readSync } from 'node:fs';
import type { ReadAt } from '../decode/wasm/segments.ts';

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
