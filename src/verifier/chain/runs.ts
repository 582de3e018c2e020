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
  const links = new Links(batch);
  const isAlone = (index: number) => isNoted(batch, index) || !isOf(streamId, streams?.[index] ?? null);
  for (let from = 0; from < count; ) {
    let to = from + 1;
    if (!isAlone(from)) while (to < count && links.follows(to) && !isAlone(to)) to++;
    yield { batch, from, to };
    from = to;
  }
}

/** @param stated null where an entry does not say to which stream it belongs. */
export function isOf(streamId: string, stated: string | null): boolean {
  return stated === null || stated === streamId;
}

/** Compares what entries say of their predecessors with these, four bytes at a time. */
class Links {
  readonly #batch: EntryBatch;
  readonly #words: number;
  readonly #previous: Uint32Array;
  readonly #stated: Uint32Array;

  constructor(batch: EntryBatch) {
    this.#batch = batch;
    this.#words = batch.digestBytes / 4;
    this.#previous = inWords(batch.previous);
    this.#stated = inWords(batch.stated);
  }

  /** Whether the entry follows the one before it in the batch. */
  follows(index: number): boolean {
    const { sequences, times, flags } = this.#batch;
    if (sequences[index] !== (sequences[index - 1] ?? 0) + 1) return false;
    if (((flags[index] ?? 0) & FLAG.first) !== 0) return false;
    const [time, before] = [times[index] ?? Number.NaN, times[index - 1] ?? Number.NaN];
    if (!(time >= before || (Number.isNaN(time) && Number.isNaN(before)))) return false;
    const [own, last] = [index * this.#words, (index - 1) * this.#words];
    for (let word = 0; word < this.#words; word++)
      if (this.#previous[own + word] !== this.#stated[last + word]) return false;
    return true;
  }
}

function inWords({ buffer, byteOffset, length }: Uint8Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length / 4);
}
