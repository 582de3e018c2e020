import { EvidenceError } from '../../core/errors.ts';
import { isRecordable } from '../../core/http-date.ts';
import type { RoleFields } from './fields.ts';

const MILLISECONDS = { seconds: 1000, milliseconds: 1 } as const;

/** RFC 3339 as it was sent; a text without a zone is UTC, and a Unix time becomes text. */
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

/** A time that only people read: RFC 3339 in UTC, or null for what is none. */
export function toTimeOrNull(sent: unknown, unit: 'text' | 'seconds' | 'milliseconds'): string | null {
  const time =
    unit === 'text'
      ? Date.parse(typeof sent === 'string' && asTime(inUtc(sent)) !== null ? inUtc(sent) : '')
      : Number(typeof sent === 'number' ? sent : Number.NaN) * MILLISECONDS[unit];
  return isRecordable(time) ? new Date(time).toISOString() : null;
}

/** With what is no time, no order of times could be checked. */
function asTime(text: string): string | null {
  return /^\d{4}-\d\d-\d\d/.test(text) && isRecordable(Date.parse(text)) ? text : null;
}

/** ECMAScript takes a date and time without a zone for the reader's own, and knows no comma before a fraction. */
export function inUtc(text: string): string {
  return /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?$/.test(text) ? `${text.replace(',', '.')}Z` : text;
}
