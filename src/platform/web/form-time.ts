import { z } from 'zod';
import { instant } from '../http/fields.ts';

/** A time as the field of a form has it, which means UTC, or as a link has it; none where it is empty. */
export const formTime = z.string().transform(toRfc3339).pipe(instant.optional());

function toRfc3339(value: string): string | undefined {
  if (value === '') return undefined;
  if (/[Zz]$/.test(value)) return value;
  return `${value}${/T\d\d:\d\d$/.test(value) ? ':00' : ''}Z`;
}

/** The same as a field has it. */
export function toFormTime(at: string): string {
  return at.slice(0, 19);
}
