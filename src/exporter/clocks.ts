import { readHttpDate } from '../core/http-date.ts';
import { roughly } from '../core/plurals.ts';

/** Maximum difference between two clocks. Beyond it, records made by one cannot be ordered among those of the other. */
const MAX_SKEW_MS = 60_000;

/** One moment, as read from this machine's clock and from another clock. */
export interface ClockReading {
  ours: Date;
  theirs: Date;
}

/**
 * Reads another clock.
 * @param date a Date header (RFC 9110 section 6.6.1), in whole seconds; null if the answer had none.
 * @returns null if the header is missing or is not a valid date.
 */
export function readClock(date: string | null, ours: Date): ClockReading | null {
  const theirs = readHttpDate(date);
  return theirs === null ? null : { ours, theirs: new Date(theirs) };
}

/**
 * Returns the earlier of the two clocks: a period that has ended by the earlier clock has ended by both.
 * @param now by this machine's clock. @param reading taken earlier in the run; null if no other clock was read.
 */
export function earlierClock(reading: ClockReading | null, now: Date): Date {
  if (reading === null) return now;
  const { ours, theirs } = reading;
  return new Date(now.getTime() - Math.max(0, ours.getTime() - theirs.getTime()));
}

/**
 * Describes this clock's skew as a phrase that "that of …" completes. Returns null if the clocks agree closely enough.
 */
export function describeSkew({ ours, theirs }: ClockReading): string | null {
  const skew = ours.getTime() - theirs.getTime();
  if (Math.abs(skew) <= MAX_SKEW_MS) return null;
  return `about ${roughly(Math.abs(skew) / 1000)} ${skew > 0 ? 'ahead of' : 'behind'}`;
}
