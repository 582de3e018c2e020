import type { PackageReader, Segment } from '../../src/verifier/chain/package.ts';
import { WasmDecoder } from '../../src/verifier/decode/wasm/decoder.ts';
import { decodeRange, Slot } from '../../src/verifier/decode/wasm/segments.ts';

const slot = new Slot(Slot.allocate());

/**
 * Decodes the entries that begin between `start` and `end` as a thread does. The result is valid until the next call;
 * null if there is none, or if the reader has no options for segments yet.
 */
export function segmentIn(reader: PackageReader, bytes: Uint8Array, start: number, end: number): Segment | null {
  const options = reader.segments?.options;
  using decoder = options === undefined ? null : WasmDecoder.open(options, (entry) => reader.readWhole(entry));
  if (decoder === null) return null;
  const readAt = (into: Uint8Array, offset: number) => {
    const part = bytes.subarray(offset, offset + into.length);
    into.set(part);
    return part.length;
  };
  const decoded = decodeRange(decoder, readAt, { start, end });
  if (decoded === null) return null;
  const { columns, ...place } = Slot.read(slot.keep(decoded));
  return { ...place, batch: decoder.toBatch(columns) };
}

/** Size of each push, which mostly ends within an entry. */
const BLOCK_BYTES = 700;

/**
 * Reads a package in ranges at the given offsets, offering all but the first as segments, as several threads would.
 * @returns the number of entries taken from segments.
 */
export function readInRanges(reader: PackageReader, bytes: Uint8Array, splits: readonly number[]): number {
  let [at, taken] = [0, 0];
  const readTo = (end: number) => {
    while (at < end) {
      const next = Math.min(at + BLOCK_BYTES, end);
      reader.push(Buffer.from(bytes.subarray(at, next)));
      at = next;
    }
  };
  const bounds = [...splits.toSorted((a, b) => a - b), bytes.length];
  readTo(bounds[0] ?? 0);
  for (const [index, start] of bounds.slice(0, -1).entries()) {
    const end = bounds[index + 1] ?? start;
    const segment = segmentIn(reader, bytes, start, end);
    if (segment !== null && segment.start >= at) {
      readTo(segment.start);
      if (reader.splice(segment)) {
        at = segment.end;
        taken += segment.batch.count;
      }
    }
    readTo(end);
  }
  return taken;
}
