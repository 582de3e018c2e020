/** Years that RFC 3339 can write; ECMAScript reads and writes others, in a form of its own. */
const [FIRST, LAST] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** True if a moment, in milliseconds since 1970, can be recorded: a number in the years 1 to 9999. */
export function isRecordable(time: number): boolean {
  return time >= FIRST && time <= LAST;
}

/**
 * The moment that a Date header states (RFC 9110 section 6.6.1), in milliseconds since 1970.
 * @returns null where there is no header, or no date that can be recorded.
 */
export function readHttpDate(header: string | null): number | null {
  const time = Date.parse(header ?? '');
  return isRecordable(time) ? time : null;
}
