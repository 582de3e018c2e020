/** Joins pieces. */
export function joined(pieces: Iterable<string | Uint8Array>): Buffer {
  return Buffer.concat(Array.from(pieces, (piece) => Buffer.from(piece)));
}
