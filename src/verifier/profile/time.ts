import { EvidenceError } from '../../core/errors.ts';
import { isRecordable } from '../../core/http-date.ts';
import type { RoleFields } from './fields.ts';

const MILLISECONDS = { seconds: 1000, milliseconds: 1 } as const;

/** Returns RFC 3339 as sent; takes a text without a zone as UTC, and converts a Unix time to text. */
export function toTimestamp(fields: RoleFields, path: string, unit: 'text' | 'seconds' | 'milliseconds'): string {
  if (unit === 'text') {
    const text = fields.text(path);
    return fields.read(path, () => asTime(inUtc(text)), 'a date and time');
  }
  const time = fields.read(
    path,
    (sent) => (typeof sent === 'number' ? sent * MILLISECONDS[unit] : null),
    'a Unix time',
  );
  if (isRecordable(time)) return new Date(time).toISOString();
  throw new EvidenceError('contract', `the field "${path}" is no Unix time in ${unit}`);
}

/** Returns a time that only people read, as RFC 3339 in UTC; null if it is no time. */
export function toTimeOrNull(sent: unknown, unit: 'text' | 'seconds' | 'milliseconds'): string | null {
  const time =
    unit === 'text'
      ? Date.parse(typeof sent === 'string' && asTime(inUtc(sent)) !== null ? inUtc(sent) : '')
      : Number(typeof sent === 'number' ? sent : Number.NaN) * MILLISECONDS[unit];
  return isRecordable(time) ? new Date(time).toISOString() : null;
}

/** Returns null for a text that is no time, because the order of times could not be checked. */
function asTime(text: string): string | null {
  return /^\d{4}-\d\d-\d\d/.test(text) && isRecordable(Date.parse(text)) ? text : null;
}

/**
 * Adds the zone UTC to a text without one, and replaces a comma before a fraction: ECMAScript would assume the reader's
 * zone, and knows no comma.
 */
export function inUtc(text: string): string {
  return /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?$/.test(text) ? `${text.replace(',', '.')}Z` : text;
}
