/** Takes a request at a time in milliseconds, or says in how many seconds to come back. */
export type Limit = (now: number) => number | null;

/** So many in any stretch of this length. */
export function slidingWindowOf(count: number, windowMs: number): Limit {
  const taken: number[] = [];
  return (now) => {
    const oldest = taken[taken.length - count];
    if (oldest !== undefined && oldest > now - windowMs) return Math.ceil(windowMs / 1000);
    taken.push(now);
    return null;
  };
}

/** So many from one full window to the next. */
export function fixedWindowOf(count: number, windowMs: number): Limit {
  let window = -1;
  let taken = 0;
  return (now) => {
    if (Math.floor(now / windowMs) !== window) taken = 0;
    window = Math.floor(now / windowMs);
    if (taken === count) return Math.max(1, Math.ceil(((window + 1) * windowMs - now) / 1000));
    taken++;
    return null;
  };
}

/** A bucket that holds so many, and gets so many each second. */
export function bucketOf(perSecond: number, capacity: number): Limit {
  let tokens = capacity;
  let before = 0;
  return (now) => {
    tokens = Math.min(capacity, tokens + ((now - before) * perSecond) / 1000);
    before = now;
    if (tokens < 1) return 1;
    tokens--;
    return null;
  };
}
