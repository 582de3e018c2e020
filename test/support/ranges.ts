import type { PackageReader } from '../../src/chain/package.ts';
import { type Stretch, StretchReader } from '../../src/chain/stretch.ts';

/** What a worker makes of the bytes from `start` to `end`; null also where the reader does not know what to look for. */
export function stretchIn(reader: PackageReader, bytes: Uint8Array, start: number, end: number): Stretch | null {
  const options = reader.findStretches();
  const stretches = options === null ? null : StretchReader.open(options);
  if (stretches === null) return null;
  let at = start;
  try {
    return stretches.read(start, (into) => {
      const part = bytes.subarray(at, Math.min(at + into.length, end));
      into.set(part);
      at += part.length;
      return part.length;
    });
  } finally {
    stretches.close();
  }
}

/**
 * Pushes a package, cut into ranges at the given offsets, of which all but the first are offered as stretches: what
 * threads do, in one.
 * @returns how many entries of stretches were taken.
 */
export function pushInRanges(reader: PackageReader, bytes: Uint8Array, splits: readonly number[]): number {
  let [at, taken] = [0, 0];
  const pushTo = (end: number) => {
    if (end > at) reader.push(Buffer.from(bytes.subarray(at, end)));
    at = Math.max(at, end);
  };
  const bounds = [...splits.toSorted((a, b) => a - b), bytes.length];
  pushTo(bounds[0] ?? 0);
  for (const [index, start] of bounds.slice(0, -1).entries()) {
    const end = bounds[index + 1] ?? start;
    const stretch = stretchIn(reader, bytes, start, end);
    if (stretch !== null) {
      pushTo(stretch.start);
      if (reader.take(stretch)) {
        at = stretch.end;
        taken += stretch.count;
      }
    }
    pushTo(end);
  }
  return taken;
}
