/** 408, 425, 429 and 5xx, but not those that say that the service will never do it. */
export function isRetriedStatus(status: number): boolean {
  if (status === 501 || status === 505) return false;
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status <= 599);
}

/** `Retry-After` of RFC 9110 section 10.2.3, seconds or a date, as milliseconds from now. */
export function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
