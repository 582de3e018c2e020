import { hexText } from '../../core/bytes.ts';
import type { SpareMemory } from '../../core/spare-memory.ts';
import type { Entry } from './entry.ts';
import type { Unhashed } from './unhashed.ts';

/** Bits of a batch's `flags`. */
export const FLAG = {
  /** The entry names no predecessor. */
  first: 1,
  /** The entry's digest was computed. */
  computed: 2,
  /**
   * The columns do not say everything about the entry, and `entry` must be read: its digest cannot be computed or, if
   * entries may have seals, its seal is absent, malformed or made with a key that was not given.
   */
  noted: 4,
} as const;

/** Part of entries that no digest covers, and the index of the batch's first entry that has it. */
export interface UnhashedAt {
  entry: number;
  unhashed: Unhashed;
}

/**
 * Entries of a package in the order sent, in columns by index. An entry's part of a column depends only on its own
 * bytes and on the decoder's contract, stream and keys. Columns hold the stated and the computed values of an entry;
 * `chain/` alone compares them.
 */
// Over ten members: the columns.
export interface EntryBatch {
  readonly count: number;
  readonly sequences: Float64Array;
  /** Milliseconds since 1970; NaN if an entry has none. */
  readonly times: Float64Array;
  readonly flags: Uint8Array;
  /** Bytes per digest in the columns below. The digests of noted entries are in `entry`. */
  readonly digestBytes: number;
  /** Predecessor's digest as each entry states it; zeros if it states none. */
  readonly previous: Uint8Array;
  /** Digest that each entry states as its own, and the digest computed by the recipe. */
  readonly stated: Uint8Array;
  readonly computed: Uint8Array;
  /** Bytes per seal in the columns below; 0 if seals are not computed. */
  readonly sealBytes: number;
  /** Seal that each entry states, and the seal computed with the key that it names; zeros if it names no given key. */
  readonly statedSeals: Uint8Array;
  readonly computedSeals: Uint8Array;
  /** Streams that the entries state, null for an entry that states none; null if all belong to the requested stream. */
  readonly streams: readonly (string | null)[] | null;
  /** Sorted by entry and, for one entry, from the gravest down. */
  readonly unhashed: readonly UnhashedAt[];
  /** Ids of the given keys with which digests and seals were computed. */
  readonly keyIds: readonly string[];
  /** Returns an RFC 3339 time; empty if the entry has none. */
  timestamp(index: number): string;
  /** Returns an entry's bytes as sent; valid only until the next batch is made. */
  sent(index: number): Uint8Array;
  /** Returns an entry in full. */
  entry(index: number): Entry;
  /** Copies the entries from `from` to `to` (exclusive), which must be consecutive. */
  keep(from: number, to: number, spare: SpareMemory): SentEntries;
}

/** Returns lower-case hex. */
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

/** Copy of consecutive entries of one stream as sent, by index from 0. Each can be read in one way only. */
export interface SentEntries {
  readonly count: number;
  /** Bytes from the start of the first entry to the end of the last, including the separators. */
  readonly bytes: Uint8Array;
  /** Returns an entry's number. Numbers are consecutive, and times never decrease. */
  sequence(index: number): number;
  /** Offsets in `bytes` of an entry's first byte and after its last. */
  start(index: number): number;
  end(index: number): number;
  /** Returns lower-case hex. */
  digest(index: number): string;
  /** Returns an RFC 3339 time; empty if entries have none. */
  timestamp(index: number): string;
  /** Releases the memory; the entries cannot be read afterward. */
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
