import { type EntryBatch, FLAG, isNoted } from '../model/batch.ts';

/**
 * Entries of a batch, from `from` on and before `to`, each of which follows the one before: its number is the next, it
 * names that one's stated digest as its predecessor's, and it is not dated before that one, or neither has a time. Or a single entry.
 */
export interface Run {
  readonly batch: EntryBatch;
  readonly from: number;
  readonly to: number;
}

/** Cuts a batch into runs, as long ones as there are. What more is to be said of, or is of another stream, is alone. */
export function* runsOf(batch: EntryBatch, streamId: string): Generator<Run> {
  const { count, streams } = batch;
  const isAlone = (index: number) => isNoted(batch, index) || !isOf(streamId, streams?.[index] ?? null);
  for (let from = 0; from < count; ) {
    const to = isAlone(from) ? from + 1 : endOfRun(batch, from, isAlone);
    yield { batch, from, to };
    from = to;
  }
}

/** @param stated null where an entry does not say to which stream it belongs. */
export function isOf(streamId: string, stated: string | null): boolean {
  return stated === null || stated === streamId;
}

function endOfRun(batch: EntryBatch, from: number, isAlone: (index: number) => boolean): number {
  const { count, digestBytes, sequences, times, flags } = batch;
  const words = digestBytes / 4;
  const [previous, stated] = [inWords(batch.previous), inWords(batch.stated)];
  for (let index = from + 1; index < count; index++) {
    if (sequences[index] !== (sequences[index - 1] ?? 0) + 1) return index;
    if (((flags[index] ?? 0) & FLAG.first) !== 0 || isAlone(index)) return index;
    const [time, before] = [times[index] ?? Number.NaN, times[index - 1] ?? Number.NaN];
    if (!(time >= before || (Number.isNaN(time) && Number.isNaN(before)))) return index;
    // Four bytes at a time.
    for (let word = index * words; word < (index + 1) * words; word++)
      if (previous[word] !== stated[word - words]) return index;
  }
  return count;
}

function inWords({ buffer, byteOffset, length }: Uint8Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length / 4);
}
