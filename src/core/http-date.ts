/** First and last time that RFC 3339 can write; ECMAScript reads and writes other years in another form. */
const [FIRST, LAST] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** Reports whether a time in milliseconds since 1970 can be recorded: a number in the years 1 to 9999. */
export function isRecordable(time: number): boolean {
  return time >= FIRST && time <= LAST;
}

/**
 * Returns the time in a Date header (RFC 9110 section 6.6.1), in milliseconds since 1970.
 * @returns null if there is no header, or no date that can be recorded.
 */
export function readHttpDate(header: string | null): number | null {
  const time = Date.parse(header ?? '');
  return isRecordable(time) ? time : null;
}
