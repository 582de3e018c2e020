import type { EntryWords } from '../model/entry.ts';

/** Times at which the entries with the lowest and the highest number happened, as stated; null if not stated. */
export interface Occurred {
  first: string | null;
  last: string | null;
}

interface End {
  sequence: number;
  words: () => EntryWords;
}

/** Keeps the entries at both ends of a stream seen so far. */
export class StreamEnds {
  #first: End | null = null;
  #last: End | null = null;

  /** @param keep called if the entry may be an end. The function that it returns is called in `finish`, if at all. */
  add(sequence: number, keep: () => () => EntryWords): void {
    const isFirst = this.#first === null || sequence < this.#first.sequence;
    const isLast = this.#last === null || sequence > this.#last.sequence;
    if (!isFirst && !isLast) return;
    const end = { sequence, words: keep() };
    if (isFirst) this.#first = end;
    if (isLast) this.#last = end;
  }

  finish(): Occurred {
    return { first: this.#first?.words().occurredAt ?? null, last: this.#last?.words().occurredAt ?? null };
  }
}
