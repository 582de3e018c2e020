/** Numbers of a stream's entries by time of recording: per day, or per coarser unit if there are too many days. */
export interface Activity {
  per: 'day' | 'month' | 'year';
  /** Keyed by `2026-10-31`, `2026-10` or `2026`, in UTC. Units without entries are absent. */
  counts: Record<string, number>;
  /** Entries whose time is absent or unreadable. */
  undated: number;
}

/** Maximum number of units: more days are counted by month, and more months by year. A quarter fits. */
const MAX_COUNTS = 100;

/** One day in milliseconds. */
const DAY = 86_400_000;
/** Largest absolute time value of a Date, in milliseconds (ECMA-262 21.4.1.1). */
const MAX_TIME = 8.64e15;
const LENGTH = { day: 10, month: 7, year: 4 } as const;

/** Counts entries by the day on which they were recorded, in bounded memory and in any order. */
export class ActivityCount {
  #per: Activity['per'] = 'day';
  #counts = new Map<string, number>();
  #undated = 0;
  /** Day that was counted last, cached because consecutive entries mostly share a day. */
  #day = Number.NaN;
  #text: string | null = null;

  /** @param time milliseconds since 1970; NaN if an entry has none. */
  add(time: number, count = 1): void {
    const day = Math.floor(time / DAY);
    if (day !== this.#day) [this.#day, this.#text] = [day, dayText(time)];
    if (this.#text !== null) this.#count(this.#text, count);
    else this.#undated += count;
  }

  /** Adds entries whose times never decrease: if two of them share a day, so do all entries between them. */
  addOrdered(count: number, timeOf: (index: number) => number): void {
    for (let start = 0; start < count; ) {
      const end = firstOfLaterDay(timeOf, start, count);
      this.add(timeOf(start), end - start);
      start = end;
    }
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
    // Years are the coarsest unit, and there are at most ten thousand.
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

/** Returns null if the time is unreadable or its year is beyond 9999, which is written with a sign and six digits. */
function dayText(time: number): string | null {
  const text = Math.abs(time) <= MAX_TIME ? new Date(time).toISOString() : '';
  return /^\d{4}-/.test(text) ? text.slice(0, LENGTH.day) : null;
}

/**
 * Returns the index of the first entry of a later day than the entry at `start`, by bisection; `count` if there is
 * none.
 */
function firstOfLaterDay(timeOf: (index: number) => number, start: number, count: number): number {
  const day = Math.floor(timeOf(start) / DAY);
  // In a run, either every entry has a time or none has.
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
