/**
 * Entries that follow one another and what came before in every respect that a walk checks: numbers, links, digests
 * from their own bytes, stream, times and, where keys are given, seals. Whoever offers them vouches for all of it.
 * Valid until the walk returns.
 */
export interface RegularEntries {
  /** At least 1. */
  readonly count: number;
  readonly firstSequence: number;
  /** One record of each, of equal length: in it its digest, stated and computed alike. */
  readonly records: Uint8Array;
  readonly recordBytes: number;
  /** In a record. */
  readonly digestAt: number;
  readonly digestBytes: number;
  /** RFC 3339; empty where entries have none. */
  timestamp(index: number): string;
}

/** Lower-case hex. */
export function digestOf({ records, recordBytes, digestAt, digestBytes }: RegularEntries, index: number): string {
  const at = records.byteOffset + index * recordBytes + digestAt;
  return Buffer.from(records.buffer, at, digestBytes).toString('hex');
}

/** The digests of the newest entries of a walk, by number; only what `limit` newer ones have not pushed out. */
export class RecentDigests {
  readonly #limit: number;
  readonly #single = new Map<number, string>();
  /** Of regular entries, by number modulo `limit`; made when the first of them come. */
  #regular: Ring | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(sequence: number): string | undefined {
    return this.#single.get(sequence) ?? this.#regular?.get(sequence);
  }

  add(sequence: number, digest: string): void {
    this.#single.set(sequence, digest);
    if (this.#single.size <= this.#limit) return;
    for (const oldest of this.#single.keys()) {
      this.#single.delete(oldest);
      break;
    }
  }

  addRegular(entries: RegularEntries): void {
    this.#regular ??= new Ring(this.#limit, entries);
    this.#regular.add(entries);
  }
}

/** Records of entries by their number modulo the size, copied as they are: nobody may ever ask for them. */
class Ring {
  readonly #size: number;
  readonly #sequences: Float64Array;
  readonly #records: Uint8Array;
  readonly #recordBytes: number;
  readonly #digestAt: number;
  readonly #digestBytes: number;

  constructor(size: number, { recordBytes, digestAt, digestBytes }: RegularEntries) {
    this.#size = size;
    this.#sequences = new Float64Array(size).fill(-1);
    this.#records = new Uint8Array(size * recordBytes);
    this.#recordBytes = recordBytes;
    this.#digestAt = digestAt;
    this.#digestBytes = digestBytes;
  }

  get(sequence: number): string | undefined {
    const slot = sequence % this.#size;
    if (this.#sequences[slot] !== sequence) return undefined;
    const at = slot * this.#recordBytes + this.#digestAt;
    return Buffer.from(this.#records.buffer, at, this.#digestBytes).toString('hex');
  }

  add({ count, firstSequence, records }: RegularEntries): void {
    const bytes = this.#recordBytes;
    for (let index = Math.max(0, count - this.#size); index < count; ) {
      const slot = (firstSequence + index) % this.#size;
      const length = Math.min(count - index, this.#size - slot);
      this.#records.set(records.subarray(index * bytes, (index + length) * bytes), slot * bytes);
      for (let offset = 0; offset < length; offset++) this.#sequences[slot + offset] = firstSequence + index + offset;
      index += length;
    }
  }
}
