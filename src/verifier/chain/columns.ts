import { areSameBytes } from '../../core/bytes.ts';

/**
 * Compares two columns of digests, of `bytes` each.
 * @returns the indices, from `from` on and before `to`, at which they differ.
 */
export function differingEntries(
  one: Uint8Array,
  other: Uint8Array,
  { bytes, from, to }: { bytes: number; from: number; to: number },
): number[] {
  // One call compares them all, and most often that is all there is to do.
  if (areSameBytes(one.subarray(from * bytes, to * bytes), other.subarray(from * bytes, to * bytes))) return NONE;
  const differing: number[] = [];
  for (let index = from; index < to; index++) if (differAt(one, other, index * bytes, bytes)) differing.push(index);
  return differing;
}

const NONE: number[] = [];

function differAt(one: Uint8Array, other: Uint8Array, at: number, bytes: number): boolean {
  for (let byte = at; byte < at + bytes; byte++) if (one[byte] !== other[byte]) return true;
  return false;
}
