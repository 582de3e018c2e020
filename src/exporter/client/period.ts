import { inUtc } from '../../verifier/profile/time.ts';

/** Half-open, RFC 3339 in UTC; null is without an end. */
export interface Period {
  from: string | null;
  to: string | null;
}

export const ALL_TIME: Period = { from: null, to: null };

/** Returns a function that reports whether an entry was recorded in a period. */
export function inPeriod({ from, to }: Period): (entry: { timestamp: string }) => boolean {
  const [first, end] = [from === null ? -Infinity : Date.parse(from), to === null ? Infinity : Date.parse(to)];
  return ({ timestamp }) => {
    const time = Date.parse(inUtc(timestamp));
    // An entry that has no time of its own is left to the service's own selection.
    return Number.isNaN(time) || (time >= first && time < end);
  };
}
