import { readHttpDate } from '../core/http-date.ts';
import { roughly } from '../core/plurals.ts';

/** Two clocks may differ by so much before records of the one make no sense beside those of the other. */
const MAX_SKEW_MS = 60_000;

/** One moment, by this machine's clock and by another one. */
export interface ClockReading {
  ours: Date;
  theirs: Date;
}

/**
 * Reads another clock.
 * @param date a Date header (RFC 9110 section 6.6.1), of whole seconds; null where there was none.
 * @returns null where it says nothing that can be recorded.
 */
export function readClock(date: string | null, ours: Date): ClockReading | null {
  const theirs = readHttpDate(date);
  return theirs === null ? null : { ours, theirs: new Date(theirs) };
}

/**
 * Returns the earlier of both clocks: a period that has ended by it has ended by both.
 * @param now by ours. @param reading of a while ago; null where only ours is known.
 */
export function earlierClock(reading: ClockReading | null, now: Date): Date {
  if (reading === null) return now;
  const { ours, theirs } = reading;
  return new Date(now.getTime() - Math.max(0, ours.getTime() - theirs.getTime()));
}

/** Says how this machine's clock differs, in words that "that of …" completes; null where the two agree well enough. */
export function describeSkew({ ours, theirs }: ClockReading): string | null {
  const skew = ours.getTime() - theirs.getTime();
  if (Math.abs(skew) <= MAX_SKEW_MS) return null;
  return `about ${roughly(Math.abs(skew) / 1000)} ${skew > 0 ? 'ahead of' : 'behind'}`;
}
