/** Numbers of entries of a stream by when they were recorded: per day, or coarser where that would be too many days to keep. */
export interface Activity {
  per: 'day' | 'month' | 'year';
  /** By `2026-10-31`, `2026-10` or `2026`, in UTC; none without entries. */
  counts: Record<string, number>;
  /** Entries without a time that could be read. */
  undated: number;
}

/** More days than this are counted by month, more months by year. A quarter fits. */
const MAX_COUNTS = 100;

/** Milliseconds. */
const DAY = 86_400_000;
/** ECMA-262 21.4.1.1: no Date is beyond it. */
const MAX_TIME = 8.64e15;
const LENGTH = { day: 10, month: 7, year: 4 } as const;

/** Counts entries by the day on which they were recorded, in bounded memory, in whatever order they come. */
export class ActivityCount {
  #per: Activity['per'] = 'day';
  #counts = new Map<string, number>();
  #undated = 0;
  /** The day that was counted last: most entries are of the same day as the one before. */
  #day = Number.NaN;
  #text: string | null = null;

  /** @param time milliseconds since 1970; not a number where an entry has none. */
  add(time: number, count = 1): void {
    const day = Math.floor(time / DAY);
    if (day !== this.#day) [this.#day, this.#text] = [day, dayText(time)];
    if (this.#text !== null) this.#count(this.#text, count);
    else this.#undated += count;
  }

  /** Entries whose times never go backwards, so that where two are of one day, all between them are. */
  addOrdered(count: number, timeOf: (index: number) => number): void {
    for (let start = 0; start < count; ) {
      const end = firstOfLaterDay(timeOf, start, count);
      this.add(timeOf(start), end - start);
      start = end;
    }
  }

  /** Adds what was counted elsewhere. */
  addAll({ per, counts, undated }: Activity): void {
    while (LENGTH[this.#per] > LENGTH[per]) this.#coarsen();
    for (const [key, count] of Object.entries(counts)) this.#count(key, count);
    this.#undated += undated;
  }

  #count(time: string, count: number): void {
    const key = time.slice(0, LENGTH[this.#per]);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
    if (this.#counts.size > MAX_COUNTS) this.#coarsen();
  }

  finish(): Activity {
    const sorted = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
    return { per: this.#per, counts: Object.fromEntries(sorted), undated: this.#undated };
  }

  #coarsen(): void {
    // There are ten thousand of them at most.
    if (this.#per === 'year') return;
    this.#per = this.#per === 'day' ? 'month' : 'year';
    const fine = this.#counts;
    this.#counts = new Map();
    for (const [key, count] of fine) {
      const coarse = key.slice(0, LENGTH[this.#per]);
      this.#counts.set(coarse, (this.#counts.get(coarse) ?? 0) + count);
    }
    if (this.#counts.size > MAX_COUNTS) this.#coarsen();
  }
}

/** Null for a time that cannot be read. Years beyond 9999, which are written with a sign and six digits, are none. */
function dayText(time: number): string | null {
  const text = Math.abs(time) <= MAX_TIME ? new Date(time).toISOString() : '';
  return /^\d{4}-/.test(text) ? text.slice(0, LENGTH.day) : null;
}

/** By bisection: the index of the first entry that is of another day than the one at `start`; `count` if none is. */
function firstOfLaterDay(timeOf: (index: number) => number, start: number, count: number): number {
  const day = Math.floor(timeOf(start) / DAY);
  // If one entry has no time, none has.
  const isSame = (index: number) => Number.isNaN(day) || Math.floor(timeOf(index) / DAY) === day;
  if (isSame(count - 1)) return count;
  let [same, later] = [start, count - 1];
  while (later - same > 1) {
    const middle = (same + later) >>> 1;
    if (isSame(middle)) same = middle;
    else later = middle;
  }
  return later;
}
