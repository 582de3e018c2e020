import type { Entry } from './entry.ts';

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
