import { hexAt, isNoted, statedDigest } from '../model/batch.ts';
import type { Run } from './runs.ts';

/** Number of entries whose digests are remembered, to distinguish a duplicate from a fork. */
const REMEMBERED = 4096;

/**
 * Digests of the newest entries by number, until `REMEMBERED` newer ones replace them. Memory grows with the entries up
 * to that bound, because an account may have a hundred thousand streams of one entry each.
 */
export class RecentDigests {
  /** Digests of entries that arrive alone, or whose digests may have any length. */
  readonly #single = new Map<number, string>();
  /** Digests of entries that arrive in longer runs; created with the first of them. */
  #ring: DigestRing | null = null;

  /** Returns lower-case hex. */
  get(sequence: number): string | undefined {
    return this.#ring?.get(sequence) ?? this.#single.get(sequence);
  }

  add(run: Run): void {
    const { batch, from, to } = run;
    if (to === from + 1 || isNoted(batch, from)) {
      this.#addSingle(batch.sequences[from] ?? 0, statedDigest(batch, from));
      return;
    }
    if (this.#ring?.digestBytes !== batch.digestBytes) this.#ring = new DigestRing(batch.digestBytes);
    this.#ring.add(run);
  }

  #addSingle(sequence: number, digest: string): void {
    this.#single.set(sequence, digest);
    if (this.#single.size <= REMEMBERED) return;
    for (const oldest of this.#single.keys()) {
      this.#single.delete(oldest);
      break;
    }
  }
}

/** Ring buffer of digests of one length, indexed by number modulo `REMEMBERED`. */
class DigestRing {
  readonly digestBytes: number;
  readonly #sequences = new Float64Array(REMEMBERED).fill(-1);
  readonly #digests: Uint8Array;

  constructor(digestBytes: number) {
    this.digestBytes = digestBytes;
    this.#digests = new Uint8Array(REMEMBERED * digestBytes);
  }

  get(sequence: number): string | undefined {
    const slot = sequence % REMEMBERED;
    return this.#sequences[slot] === sequence ? hexAt(this.#digests, slot, this.digestBytes) : undefined;
  }

  add({ batch, from, to }: Run): void {
    const bytes = this.digestBytes;
    for (let index = Math.max(from, to - REMEMBERED); index < to; ) {
      const sequence = batch.sequences[index] ?? 0;
      const slot = sequence % REMEMBERED;
      const count = Math.min(to - index, REMEMBERED - slot);
      this.#digests.set(batch.stated.subarray(index * bytes, (index + count) * bytes), slot * bytes);
      this.#sequences.set(batch.sequences.subarray(index, index + count), slot);
      index += count;
    }
  }
}
