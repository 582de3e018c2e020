import { type RawBuilder, sql } from 'kysely';
import { CLOCKS_APART_MS } from '../clock/clock.ts';

/**
 * Returns the condition that the time `due_at` of a row has come. A time too far ahead was set by a clock that was ahead
 * and is right now; it has come as well.
 * @param longestMs maximum time for which a row is postponed.
 */
export function isDue(now: Date, longestMs: number): RawBuilder<boolean> {
  const tooLate = new Date(now.getTime() + longestMs + CLOCKS_APART_MS).toISOString();
  return sql<boolean>`(due_at <= ${now.toISOString()} OR due_at > ${tooLate})`;
}
