import { inUtc } from '../../verifier/profile/time.ts';

/** Half-open period in RFC 3339 UTC; null for an open end. */
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
    // An entry without a time is left to the service's own selection.
    return Number.isNaN(time) || (time >= first && time < end);
  };
}
