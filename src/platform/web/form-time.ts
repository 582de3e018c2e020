import { z } from 'zod';
import { instant } from '../http/fields.ts';

/** Time in a form field, which is in UTC, or in a link; undefined if empty. */
export const formTime = z.string().transform(toRfc3339).pipe(instant.optional());

function toRfc3339(value: string): string | undefined {
  if (value === '') return undefined;
  if (/[Zz]$/.test(value)) return value;
  return `${value}${/T\d\d:\d\d$/.test(value) ? ':00' : ''}Z`;
}

/** Returns a time in the format of a form field. */
export function toFormTime(at: string): string {
  return at.slice(0, 19);
}
