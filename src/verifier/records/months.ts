import type { Question } from './question.ts';

/** Months of the calendar in UTC, named as `2026-10`. */

/** @param count number of months later; negative for earlier. */
export function addMonths(month: string, count: number): string {
  const date = new Date(`${month}-01T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + count);
  return date.toISOString().slice(0, 7);
}

/** Returns the period of `count` months that begins with `month`. */
export function periodOfMonths(month: string, count = 1): { from: string; to: string } {
  return { from: startOf(month), to: startOf(addMonths(month, count)) };
}

/** Returns the month of a time, or of a date cut to its month or year; null for other text. */
export function monthOf(time: string): string | null {
  const month = time.slice(0, 7).padEnd(7, '-01');
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(month) ? month : null;
}

/** Returns the last month that has ended. */
export function lastEndedMonth(now: Date): string {
  return addMonths(now.toISOString().slice(0, 7), -1);
}

/** Returns the first month and the number of months of a period; null if it is not made of whole months. */
export function wholeMonths({ from, to }: Question['period']): { first: string; count: number } | null {
  if (from === null || to === null) return null;
  const [first, end] = [from.slice(0, 7), to.slice(0, 7)];
  if (from !== startOf(first) || to !== startOf(end)) return null;
  return { first, count: monthNumber(end) - monthNumber(first) };
}

function startOf(month: string): string {
  return `${month}-01T00:00:00.000Z`;
}

function monthNumber(month: string): number {
  return Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7));
}
