import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * Undoes a content coding (RFC 9110 section 8.4.1); `deflate` is the zlib format, as there. Null for one that is not
 * known, or more than one.
 */
export function decode(body: Readable, coding: string): Readable | null {
  const decoder = DECODERS.get(coding.trim().toLowerCase());
  // The fault of either is thrown where the result is read.
  return decoder === undefined ? null : pipeline(body, decoder(), () => {});
}
