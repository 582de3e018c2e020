import type { Entry } from '../contract/contract.ts';

/** Entries of one stream as they were sent, to be kept. They can be read in one way only. */
export interface SentEntries {
  /** Of the first; the others follow it one by one, and in time. */
  readonly firstSequence: number;
  /** From the first byte of the first entry to the last of the last, with what stands between them. */
  readonly bytes: Uint8Array;
  /** Where each begins, and behind it, in `bytes`. */
  readonly starts: ArrayLike<number>;
  readonly ends: ArrayLike<number>;
  /** Lower-case hex. */
  digest(index: number): string;
  /** RFC 3339; empty where entries have none. */
  timestamp(index: number): string;
}

export function entryOf(entries: SentEntries, index: number): Pick<Entry, 'sequence' | 'digest' | 'timestamp'> {
  return {
    sequence: entries.firstSequence + index,
    digest: entries.digest(index),
    timestamp: entries.timestamp(index),
  };
}

/** @param bytes are copied. */
export function sentEntry({ sequence, digest, timestamp }: Entry, bytes: Uint8Array): SentEntries {
  return {
    firstSequence: sequence,
    bytes: Buffer.from(bytes),
    starts: [0],
    ends: [bytes.length],
    digest: () => digest,
    timestamp: () => timestamp,
  };
}
