import { hexText } from '../../core/bytes.ts';
import type { SpareMemory } from '../../core/spare-memory.ts';
import type { Entry } from './entry.ts';
import type { Unhashed } from './unhashed.ts';

/** Bits of a batch's `flags`. */
export const FLAG = {
  /** The entry names no predecessor. */
  first: 1,
  /** Its digest was computed. */
  computed: 2,
  /**
   * More is to be said of it than its columns do, and `entry` says it: that its digest cannot be computed or, where it may
   * have a seal, that the seal is absent, malformed or of a key that was not given.
   */
  noted: 4,
} as const;

/** Something that is not hashed, and the index of the first entry of a batch that leaves it open. */
export interface UnhashedAt {
  entry: number;
  unhashed: Unhashed;
}

/**
 * Entries of a package in the order in which they were sent, each by its index, in columns. Each entry's part of a column
 * is made of that entry's own bytes and what the decoder was told of the contract, the stream and its keys. Columns say
 * what an entry states and what was computed of it; `chain/` alone compares them.
 */
// Over ten members: they are the columns.
export interface EntryBatch {
  readonly count: number;
  readonly sequences: Float64Array;
  /** Milliseconds since 1970; not a number where an entry has none. */
  readonly times: Float64Array;
  readonly flags: Uint8Array;
  /** Bytes of a digest in the columns below. Of entries that are noted, `entry` says the digests. */
  readonly digestBytes: number;
  /** The predecessor's digest as each entry states it; zeros for none. */
  readonly previous: Uint8Array;
  /** The digest that it states as its own, and the one that was computed by the recipe. */
  readonly stated: Uint8Array;
  readonly computed: Uint8Array;
  /** Bytes of a seal in the columns below; 0 where seals are not computed. */
  readonly sealBytes: number;
  /** The seal that an entry has, and the one that was computed with the key that it names; zeros where no given key is named. */
  readonly statedSeals: Uint8Array;
  readonly computedSeals: Uint8Array;
  /** The streams that they say they belong to, null where they do not say; null if that is the one that was asked for. */
  readonly streams: readonly (string | null)[] | null;
  /** In the order of the entries; of each, the gravest first. */
  readonly unhashed: readonly UnhashedAt[];
  /** The ids of the given keys with which digests and seals were computed. */
  readonly keyIds: readonly string[];
  /** RFC 3339; empty where an entry has none. */
  timestamp(index: number): string;
  /** The bytes of an entry as they were sent; valid only until the next batch is made. */
  sent(index: number): Uint8Array;
  /** The whole of an entry. */
  entry(index: number): Entry;
  /** A copy of those from `from` on and before `to`, which follow one another. */
  keep(from: number, to: number, spare: SpareMemory): SentEntries;
}

/** Lower-case hex. */
export function statedDigest(batch: EntryBatch, index: number): string {
  if (isNoted(batch, index)) return batch.entry(index).digest;
  return hexAt(batch.stated, index, batch.digestBytes);
}

export function isNoted({ flags }: EntryBatch, index: number): boolean {
  return ((flags[index] ?? 0) & FLAG.noted) !== 0;
}

export function hexAt(column: Uint8Array, index: number, bytes: number): string {
  return hexText(column, index * bytes, (index + 1) * bytes);
}

/** Entries of one stream as they were sent, to be kept, each by its index from 0. They can be read in one way only. */
export interface SentEntries {
  readonly count: number;
  /** From the first byte of the first entry to the last of the last, with what stands between them. */
  readonly bytes: Uint8Array;
  /** They follow one another, one by one, and in time. */
  sequence(index: number): number;
  /** Offsets in `bytes` of its beginning and after its end. */
  start(index: number): number;
  end(index: number): number;
  /** Lower-case hex. */
  digest(index: number): string;
  /** RFC 3339; empty where entries have none. */
  timestamp(index: number): string;
  /** They are not looked at any more. */
  release(): void;
}

export function entryOf(entries: SentEntries, index: number): Pick<Entry, 'sequence' | 'digest' | 'timestamp'> {
  return { sequence: entries.sequence(index), digest: entries.digest(index), timestamp: entries.timestamp(index) };
}

/** @param bytes are copied. */
export function sentEntry({ sequence, digest, timestamp }: Entry, bytes: Uint8Array): SentEntries {
  return {
    count: 1,
    bytes: bytes.slice(),
    sequence: () => sequence,
    start: () => 0,
    end: () => bytes.length,
    digest: () => digest,
    timestamp: () => timestamp,
    release: () => {},
  };
}
