import type { EntryWords } from '../model/entry.ts';

/** When the entries with the lowest and the highest number happened, as they say; null where they do not. */
export interface Occurred {
  first: string | null;
  last: string | null;
}

interface End {
  sequence: number;
  words: () => EntryWords;
}

/** Keeps the entries at both ends of a stream until it is known that they are the ends. */
export class StreamEnds {
  #first: End | null = null;
  #last: End | null = null;

  /** @param words is called later, if at all. */
  add(sequence: number, words: () => EntryWords): void {
    if (this.#first === null || sequence < this.#first.sequence) this.#first = { sequence, words };
    if (this.#last === null || sequence > this.#last.sequence) this.#last = { sequence, words };
  }

  finish(): Occurred {
    return { first: this.#first?.words().occurredAt ?? null, last: this.#last?.words().occurredAt ?? null };
  }
}
