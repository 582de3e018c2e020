import { addMonths, wholeMonths } from '../../../verifier/records/months.ts';
import type { Question } from '../../../verifier/records/question.ts';

const MIDNIGHT = /T00:00:00\.000Z$/;
const DAY_MS = 86_400_000;

/**
 * A period in a few letters, its last day included: `2026-10`, `2026-Q3`, `2026-10-01 to 2026-10-14`.
 * @param begunAt when the run was begun, which is where a period without an end ends.
 */
export function nameOfPeriod({ from, to }: Question['period'], begunAt: string): string {
  const months = wholeMonths({ from, to });
  if (months !== null) return nameOfMonths(months);
  const end = to === null ? begunAt.replace(/\.\d+Z$/, 'Z') : lastDayOf(to);
  if (from === null) return to === null ? `all time until ${end}` : `until ${end}`;
  return `${from.replace(MIDNIGHT, '').replace('.000Z', 'Z')} ${to === null ? 'until' : 'to'} ${end}`;
}

function nameOfMonths({ first, count }: { first: string; count: number }): string {
  const [year, month] = [first.slice(0, 4), Number(first.slice(5))];
  if (count === 1) return first;
  if (count === 12 && month === 1) return year;
  if (count === 3 && month % 3 === 1) return `${year}-Q${(month + 2) / 3}`;
  return `${first} to ${addMonths(first, count - 1)}`;
}

function lastDayOf(end: string): string {
  if (!MIDNIGHT.test(end)) return `before ${end.replace('.000Z', 'Z')}`;
  return new Date(Date.parse(end) - DAY_MS).toISOString().slice(0, 10);
}
