import { EvidenceError } from '../errors.ts';
import type { Fields } from './fields.ts';

const MILLISECONDS = { seconds: 1000, milliseconds: 1 } as const;

/** RFC 3339 as it was sent; a text without a zone is UTC, and a Unix time becomes text. */
export function toTimestamp(fields: Fields, path: string, unit: 'text' | 'seconds' | 'milliseconds'): string {
  if (unit === 'text') return inUtc(fields.text(path));
  const time = fields.read(
    path,
    (sent) => (typeof sent === 'number' ? sent * MILLISECONDS[unit] : null),
    'a Unix time',
  );
  if (Math.abs(time) <= 8.64e15) return new Date(time).toISOString();
  throw new EvidenceError('contract', `the field "${path}" is no Unix time in ${unit}`);
}

/** ECMAScript takes a date and time without a zone for the reader's own. */
export function inUtc(text: string): string {
  return /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?$/.test(text) ? `${text}Z` : text;
}
