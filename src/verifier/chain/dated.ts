/** Search for entries dated in a span of time. */
export interface DatedQuestion {
  name: string;
  /** Half-open range, in milliseconds since 1970. */
  from: number;
  to: number;
  /** Ranges of sequence numbers to skip, both ends included. */
  known: readonly { from: number; to: number }[];
}

/** Entry with its time of recording, in milliseconds since 1970. */
export interface Dated {
  sequence: number;
  time: number;
}

/**
 * Matching entry with the lowest number, keyed by the question's name. Plain data, so that it can pass between threads.
 */
export type DatedEntries = ReadonlyMap<string, Dated>;

/** Finds dated entries during a walk, in memory that depends only on the questions. */
export class DatedSearch {
  readonly #questions: readonly DatedQuestion[];
  readonly #found = new Map<string, Dated>();

  constructor(questions: readonly DatedQuestion[]) {
    this.#questions = questions;
  }

  /** Adds consecutive entries whose times never decrease. */
  addOrdered(firstSequence: number, count: number, timeOf: (index: number) => number): void {
    for (const { name, from, to, known } of this.#questions) {
      if (!(timeOf(count - 1) >= from && timeOf(0) < to)) continue;
      let index = firstSince(timeOf, count, from);
      for (const range of known.toSorted((a, b) => a.from - b.from)) {
        const sequence = firstSequence + index;
        if (range.from <= sequence && sequence <= range.to) index = range.to + 1 - firstSequence;
      }
      if (index >= count) continue;
      const time = timeOf(index);
      if (time < to) this.#note(name, { sequence: firstSequence + index, time });
    }
  }

  get found(): DatedEntries {
    return this.#found;
  }

  #note(name: string, entry: Dated): void {
    const before = this.#found.get(name);
    if (before === undefined || entry.sequence < before.sequence) this.#found.set(name, entry);
  }
}

/** Returns the index of the first entry not dated before `moment`, by bisection; `count` if there is none. */
function firstSince(timeOf: (index: number) => number, count: number, moment: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(middle) < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}
