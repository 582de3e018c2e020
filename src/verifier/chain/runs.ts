import { areSameBytes } from '../../core/bytes.ts';
import { type EntryBatch, FLAG, isNoted } from '../model/batch.ts';

/**
 * Entries of a batch from `from` to `to` (exclusive), each of which follows the one before: its number is the next, it
 * states that entry's stated digest as its predecessor's, and its time is not earlier, or neither has a time. A run may
 * be a single entry.
 */
export interface Run {
  readonly batch: EntryBatch;
  readonly from: number;
  readonly to: number;
}

/** Test of an index; null if it holds for all of them. */
type IndexTest = ((index: number) => boolean) | null;

/** Cuts a batch into the longest runs possible. An entry that is noted or of another stream is a run by itself. */
export function* runsOf(batch: EntryBatch, streamId: string): Generator<Run> {
  const { count, streams } = batch;
  const isOurs = streams === null ? null : (index: number) => isOf(streamId, streams[index] ?? null);
  const isLinked = count > 1 ? linkTestOf(batch) : null;
  for (let from = 0; from < count; ) {
    const isAlone = isNoted(batch, from) || isOurs?.(from) === false;
    const to = isAlone ? from + 1 : endOfRun(batch, from, isLinked, isOurs);
    yield { batch, from, to };
    from = to;
  }
}

/**
 * Reports whether an entry belongs to a stream. An entry that states no stream does.
 * @param stated null if the entry states no stream.
 */
export function isOf(streamId: string, stated: string | null): boolean {
  return stated === null || stated === streamId;
}

function endOfRun(batch: EntryBatch, from: number, isLinked: IndexTest, isOurs: IndexTest): number {
  const { count, sequences, times, flags } = batch;
  let sequence = sequences[from] ?? 0;
  let time = times[from] ?? Number.NaN;
  for (let index = from + 1; index < count; index++) {
    const before = time;
    time = times[index] ?? Number.NaN;
    sequence++;
    if (sequences[index] !== sequence || ((flags[index] ?? 0) & (FLAG.first | FLAG.noted)) !== 0) return index;
    if (!(time >= before || (Number.isNaN(time) && Number.isNaN(before)))) return index;
    if (isLinked !== null && !isLinked(index)) return index;
    if (isOurs !== null && !isOurs(index)) return index;
  }
  return count;
}

/** Returns a test that an entry, other than the first of its batch, links to the stated digest before it. */
function linkTestOf({ count, digestBytes, previous, stated }: EntryBatch): IndexTest {
  const named = previous.subarray(digestBytes);
  const broken = differingEntries(named, stated, { bytes: digestBytes, from: 0, to: count - 1 });
  if (broken.length === 0) return null;
  const isBroken = new Set(broken);
  return (index) => !isBroken.has(index - 1);
}

/**
 * Compares two columns of digests of `bytes` bytes each.
 * @returns the indices from `from` to `to` (exclusive) at which they differ.
 */
export function differingEntries(
  one: Uint8Array,
  other: Uint8Array,
  { bytes, from, to }: { bytes: number; from: number; to: number },
): number[] {
  // Compares the whole range in one call first, which usually suffices.
  if (areSameBytes(one.subarray(from * bytes, to * bytes), other.subarray(from * bytes, to * bytes))) return NONE;
  const differing: number[] = [];
  for (let index = from; index < to; index++) if (differAt(one, other, index * bytes, bytes)) differing.push(index);
  return differing;
}

const NONE: number[] = [];

function differAt(one: Uint8Array, other: Uint8Array, at: number, bytes: number): boolean {
  for (let byte = at; byte < at + bytes; byte++) if (one[byte] !== other[byte]) return true;
  return false;
}
