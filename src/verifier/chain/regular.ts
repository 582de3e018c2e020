import { hexText } from '../../core/bytes.ts';
import type { Tip } from '../decode/wasm/kernel.ts';
import type { Activity } from './activity.ts';
import type { DatedSearch } from './dated.ts';

/**
 * Entries that follow one another and what came before in every respect that a walk checks: numbers, links, digests
 * from their own bytes, stream, times and, where keys are given, seals. Whoever offers them vouches for all of it.
 * Valid until the walk returns.
 */
// Over ten members: it is all that a walk takes in the place of so many entries.
export interface RegularEntries {
  /** At least 1. */
  readonly count: number;
  readonly firstSequence: number;
  /** Milliseconds since 1970; not a number where entries have none. */
  readonly firstTime: number;
  /** The last of them. */
  readonly tip: Tip;
  /** The digests of the newest, stated and computed alike: of all, or of `REMEMBERED` at least. */
  readonly digests: Uint8Array;
  /** Of each. */
  readonly digestBytes: number;
  readonly activity: Activity;
  /** The ids of the keys that these name, and perhaps entries before them. */
  readonly keyIds: readonly string[];
  /** The first and the last of them as they were sent. */
  readonly ends: { readonly first: Uint8Array; readonly last: Uint8Array };
  /** One of them; undefined where the number is of none, or of one that the walk does not watch. */
  find(sequence: number): RegularEntry | undefined;
  /** Answers a search that asks what whoever offers them was told of. */
  searchDated(search: DatedSearch): void;
}

export interface RegularEntry {
  /** Lower-case hex. */
  digest: string;
  /** RFC 3339; empty where entries have none. */
  timestamp: string;
}

/** What takes regular entries, each behind the ones before. */
export interface RegularWalk {
  readonly streamId: string;
  /** What the next of them has to follow; null where nothing can be regular. */
  readonly tip: Tip | null;
  /** What of the entries so far their digests say nothing about: a regular entry adds nothing to it. */
  readonly uncovered: ReadonlySet<string>;
  pushRegular(entries: RegularEntries): void;
}

/** How far back the digest of an entry is remembered, to tell a duplicate from a fork. */
export const REMEMBERED = 4096;

/** The digests of the newest entries of a walk, by number; only what `REMEMBERED` newer ones have not pushed out. */
export class RecentDigests {
  readonly #single = new Map<number, string>();
  /** Of regular entries; made when the first of them come. */
  #regular: DigestRing | null = null;

  get(sequence: number): string | undefined {
    return this.#single.get(sequence) ?? this.#regular?.get(sequence);
  }

  add(sequence: number, digest: string): void {
    this.#single.set(sequence, digest);
    if (this.#single.size <= REMEMBERED) return;
    for (const oldest of this.#single.keys()) {
      this.#single.delete(oldest);
      break;
    }
  }

  addRegular(entries: RegularEntries): void {
    this.#regular ??= new DigestRing(entries.digestBytes);
    this.#regular.add(entries);
  }
}

/** Digests of entries by their number modulo `REMEMBERED`. */
export class DigestRing {
  readonly #sequences = new Float64Array(REMEMBERED).fill(-1);
  readonly #digestBytes: number;
  readonly #digests: Uint8Array;

  constructor(digestBytes: number) {
    this.#digestBytes = digestBytes;
    this.#digests = new Uint8Array(REMEMBERED * digestBytes);
  }

  get(sequence: number): string | undefined {
    const slot = sequence % REMEMBERED;
    if (this.#sequences[slot] !== sequence) return undefined;
    return hexText(this.#digests.subarray(slot * this.#digestBytes, (slot + 1) * this.#digestBytes));
  }

  add({ tip, digests }: Pick<RegularEntries, 'tip' | 'digests'>): void {
    const bytes = this.#digestBytes;
    const kept = Math.min(digests.length / bytes, REMEMBERED);
    const newest = digests.subarray(digests.length - kept * bytes);
    const first = tip.sequence - kept + 1;
    for (let index = 0; index < kept; ) {
      const slot = (first + index) % REMEMBERED;
      const length = Math.min(kept - index, REMEMBERED - slot);
      this.#digests.set(newest.subarray(index * bytes, (index + length) * bytes), slot * bytes);
      for (let offset = 0; offset < length; offset++) this.#sequences[slot + offset] = first + index + offset;
      index += length;
    }
  }

  /** A copy of the digests up to that of the entry `last`, of `count` entries in a row, all of which must be there. */
  upTo(last: number, count: number): Uint8Array<ArrayBuffer> {
    const bytes = this.#digestBytes;
    const copy = new Uint8Array(count * bytes);
    for (let index = 0; index < count; ) {
      const slot = (last - count + 1 + index) % REMEMBERED;
      const length = Math.min(count - index, REMEMBERED - slot);
      copy.set(this.#digests.subarray(slot * bytes, (slot + length) * bytes), index * bytes);
      index += length;
    }
    return copy;
  }
}
