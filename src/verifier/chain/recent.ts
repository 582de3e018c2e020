import { hexAt, isNoted, statedDigest } from '../model/batch.ts';
import type { Run } from './runs.ts';

/** How far back the digest of an entry is remembered, to tell a duplicate from a fork. */
const REMEMBERED = 4096;

/** The digests of the newest entries, by number; only what `REMEMBERED` newer ones have not pushed out. */
export class RecentDigests {
  /** Of entries that are noted, whose digests may have any length. */
  readonly #single = new Map<number, string>();
  readonly #sequences = new Float64Array(REMEMBERED).fill(-1);
  /** By number modulo `REMEMBERED`; made when the first of them come. */
  #digests = new Uint8Array();
  #digestBytes = 0;

  /** Lower-case hex. */
  get(sequence: number): string | undefined {
    const slot = sequence % REMEMBERED;
    if (this.#sequences[slot] === sequence) return hexAt(this.#digests, slot, this.#digestBytes);
    return this.#single.get(sequence);
  }

  add({ batch, from, to }: Run): void {
    if (isNoted(batch, from)) {
      this.#addSingle(batch.sequences[from] ?? 0, statedDigest(batch, from));
      return;
    }
    const bytes = batch.digestBytes;
    if (this.#digestBytes !== bytes) {
      this.#digestBytes = bytes;
      this.#digests = new Uint8Array(REMEMBERED * bytes);
    }
    for (let index = Math.max(from, to - REMEMBERED); index < to; ) {
      const sequence = batch.sequences[index] ?? 0;
      const slot = sequence % REMEMBERED;
      const count = Math.min(to - index, REMEMBERED - slot);
      this.#digests.set(batch.stated.subarray(index * bytes, (index + count) * bytes), slot * bytes);
      this.#sequences.set(batch.sequences.subarray(index, index + count), slot);
      index += count;
    }
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
