/**
 * Reports whether a status is worth a retry: 408, 425, 429 and 5xx, except those that say that it will never succeed.
 */
export function isRetriedStatus(status: number): boolean {
  if (status === 501 || status === 505) return false;
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status <= 599);
}

/** Dates of RFC 9110 section 5.6.7; `Date.parse` alone would accept "-5". */
const HTTP_DATE = /^[A-Z][a-z]{2,8}(?:, .+ GMT| .+ \d{4})$/;

/**
 * Reads `Retry-After` (RFC 9110 section 10.2.3), seconds or a date, as milliseconds from now; null for anything else.
 */
export function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
