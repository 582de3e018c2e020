import type { PackageReader } from '../../src/verifier/chain/package.ts';
import type { Fill } from '../../src/verifier/chain/regular-reader.ts';
import { type Stretch, StretchReader } from '../../src/verifier/chain/stretch.ts';

/** What a worker makes of the bytes from `start` to `end`; null also where the reader does not know what to look for. */
export function stretchIn(reader: PackageReader, bytes: Uint8Array, start: number, end: number): Stretch | null {
  const options = reader.findStretches();
  const stretches = options === null ? null : StretchReader.open(options);
  if (stretches === null) return null;
  try {
    return stretches.read(start, fillFrom(bytes, start, end));
  } finally {
    stretches[Symbol.dispose]();
  }
}

function fillFrom(bytes: Uint8Array, start: number, end: number): Fill {
  let at = start;
  return (into) => {
    const part = bytes.subarray(at, Math.min(at + into.length, end));
    into.set(part);
    at += part.length;
    return part.length;
  };
}

/** What is pushed at a time: it ends within an entry, mostly. */
const BLOCK_BYTES = 700;

/**
 * Reads a package, cut into ranges at the given offsets, of which all but the first are offered as stretches: what
 * threads do, in one.
 * @returns how many entries of stretches were taken.
 */
export function readInRanges(reader: PackageReader, bytes: Uint8Array, splits: readonly number[]): number {
  let [at, taken] = [0, 0];
  const push = (end: number) => {
    reader.push(Buffer.from(bytes.subarray(at, end)));
    at = end;
  };
  const readTo = (end: number) => {
    for (let isOpen = false; at < end && !isOpen; ) {
      const pulled = reader.pull(fillFrom(bytes, at, end));
      at += pulled.bytes;
      isOpen = pulled.isOpen;
      if (!isOpen) push(Math.min(at + BLOCK_BYTES, end));
    }
  };
  const bounds = [...splits.toSorted((a, b) => a - b), bytes.length];
  readTo(bounds[0] ?? 0);
  for (const [index, start] of bounds.slice(0, -1).entries()) {
    const end = bounds[index + 1] ?? start;
    const stretch = stretchIn(reader, bytes, start, end);
    if (stretch !== null) {
      readTo(stretch.start);
      if (reader.take(stretch)) {
        at = stretch.end;
        taken += stretch.count;
      }
    }
    readTo(end);
  }
  push(bytes.length);
  return taken;
}
