/**
 * Entries that follow one another and what came before in every respect that a walk checks: numbers, links, digests
 * from their own bytes, stream, times and, where keys are given, seals. Whoever offers them vouches for all of it.
 * Valid until the walk returns.
 */
export interface RegularEntries {
  /** At least 1. */
  readonly count: number;
  readonly firstSequence: number;
  /** The digests, stated and computed alike: 32 bytes of each, one after another. */
  readonly digests: Uint8Array;
  /** RFC 3339 in UTC with milliseconds. */
  timestamp(index: number): string;
}

const DIGEST_BYTES = 32;

/** Lower-case hex. */
export function digestOf({ digests }: RegularEntries, index: number): string {
  const at = index * DIGEST_BYTES;
  return Buffer.from(digests.buffer, digests.byteOffset + at, DIGEST_BYTES).toString('hex');
}

/** What the next entry has to follow to be regular. */
export interface Tip {
  sequence: number;
  /** 64 hex digits. */
  digest: string;
  /** RFC 3339 in UTC with milliseconds, 24 characters. */
  timestamp: string;
}

/** The digests of the newest entries of a walk, by number; only what `limit` newer ones have not pushed out. */
export class RecentDigests {
  readonly #limit: number;
  readonly #single = new Map<number, string>();
  /** Of regular entries, by number modulo `limit`; made when the first of them come. */
  #bulk: { sequences: Float64Array; digests: Buffer } | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(sequence: number): string | undefined {
    const single = this.#single.get(sequence);
    if (single !== undefined || this.#bulk === null) return single;
    const slot = sequence % this.#limit;
    if (this.#bulk.sequences[slot] !== sequence) return undefined;
    return this.#bulk.digests.toString('hex', slot * DIGEST_BYTES, (slot + 1) * DIGEST_BYTES);
  }

  add(sequence: number, digest: string): void {
    this.#single.set(sequence, digest);
    if (this.#single.size <= this.#limit) return;
    for (const oldest of this.#single.keys()) {
      this.#single.delete(oldest);
      break;
    }
  }

  addRegular({ count, firstSequence, digests }: RegularEntries): void {
    this.#bulk ??= { sequences: new Float64Array(this.#limit), digests: Buffer.alloc(this.#limit * DIGEST_BYTES) };
    const { sequences, digests: kept } = this.#bulk;
    for (let index = Math.max(0, count - this.#limit); index < count; ) {
      const slot = (firstSequence + index) % this.#limit;
      const length = Math.min(count - index, this.#limit - slot);
      kept.set(digests.subarray(index * DIGEST_BYTES, (index + length) * DIGEST_BYTES), slot * DIGEST_BYTES);
      for (let offset = 0; offset < length; offset++) sequences[slot + offset] = firstSequence + index + offset;
      index += length;
    }
  }
}
