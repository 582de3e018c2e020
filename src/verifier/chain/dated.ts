/** A search for entries that are dated within a span of time. */
export interface DatedQuestion {
  name: string;
  /** Half-open; milliseconds since 1970. */
  from: number;
  to: number;
  /** Sequence numbers that are not looked for, as ranges that include both ends. */
  known: readonly { from: number; to: number }[];
}

/** An entry, and when it was recorded: milliseconds since 1970. */
export interface Dated {
  sequence: number;
  time: number;
}

/** The entry with the lowest number that answers each question, by its name. Plain data: it passes between threads. */
export type DatedEntries = ReadonlyMap<string, Dated>;

/** Looks for dated entries while a stream is walked, in memory that depends on the questions alone. */
export class DatedSearch {
  readonly #questions: readonly DatedQuestion[];
  readonly #found = new Map<string, Dated>();

  constructor(questions: readonly DatedQuestion[]) {
    this.#questions = questions;
  }

  add(sequence: number, time: number): void {
    for (const question of this.#questions) {
      if (!(time >= question.from && time < question.to)) continue;
      if (question.known.some(({ from, to }) => from <= sequence && sequence <= to)) continue;
      this.#note(question.name, { sequence, time });
    }
  }

  /** Consecutive entries whose times never go backwards. */
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

  /** Adds what was found elsewhere by the same questions. */
  addAll(found: DatedEntries): void {
    for (const [name, entry] of found) this.#note(name, entry);
  }

  get found(): DatedEntries {
    return this.#found;
  }

  #note(name: string, entry: Dated): void {
    const before = this.#found.get(name);
    if (before === undefined || entry.sequence < before.sequence) this.#found.set(name, entry);
  }
}

/** By bisection: the index of the first entry that is not dated before `moment`; `count` if none is. */
function firstSince(timeOf: (index: number) => number, count: number, moment: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(middle) < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}
