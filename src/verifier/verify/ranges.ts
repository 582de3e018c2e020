/** A file's bytes in ranges of equal length. Whoever claims a range reads it; plain data, shared between threads. */
export interface Ranges {
  /** Of each but the last, which goes to the end of the file. */
  bytes: number;
  fileBytes: number;
  /** 0: nobody's; else who has claimed it. */
  owners: Int32Array<SharedArrayBuffer>;
}

export function makeRanges(fileBytes: number, count: number): Ranges {
  const owners = new Int32Array(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT));
  return { bytes: Math.ceil(fileBytes / count), fileBytes, owners };
}

/** Offsets in the file. */
export function boundsOf({ bytes, fileBytes }: Ranges, range: number): { start: number; end: number } {
  return { start: Math.min(range * bytes, fileBytes), end: Math.min((range + 1) * bytes, fileBytes) };
}

/** Who has a range now: the one who asks, if it was nobody's. */
export function claim({ owners }: Ranges, range: number, owner: number): number {
  return Atomics.compareExchange(owners, range, 0, owner) || owner;
}
