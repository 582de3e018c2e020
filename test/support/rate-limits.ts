/** Accepts a request at a time in milliseconds, or returns the seconds until the next try. */
export type Limit = (now: number) => number | null;

/** Limits requests in any interval of this length. */
export function slidingWindowOf(count: number, windowMs: number): Limit {
  const taken: number[] = [];
  return (now) => {
    const oldest = taken[taken.length - count];
    if (oldest !== undefined && oldest > now - windowMs) return Math.ceil(windowMs / 1000);
    taken.push(now);
    return null;
  };
}

/** Limits requests in each fixed interval. */
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

/** Limits requests with a bucket of tokens that refills at a constant rate. */
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
