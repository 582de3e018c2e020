import { z } from 'zod';
import type { Json } from '../../core/json/canonical.ts';

/** A text that is kept as it is. PostgreSQL can hold no U+0000. */
export const text = z.string().refine((value) => !value.includes('\0'), 'has the character U+0000');

/** RFC 3339 section 5.6 date-time; seconds are not optional there. */
export const time = z.iso
  .datetime({ offset: true })
  .max(64)
  .refine((value) => /T\d{2}:\d{2}:\d{2}/.test(value), 'has no seconds');

/**
 * A time as UTC with milliseconds, rounded up: of what is recorded with milliseconds, `>=` and `<` then select the
 * same as with the exact time.
 */
export const instant = time.transform((value, context) => {
  const date = new Date(value);
  const rounded = /\.\d{3}\d*[1-9]/.test(value) ? new Date(date.getTime() + 1) : date;
  if (Number.isNaN(rounded.getTime()) || rounded.getUTCFullYear() > 9999 || rounded.getUTCFullYear() < 0) {
    context.addIssue('is not a time that can be compared');
    return z.NEVER;
  }
  return rounded.toISOString();
});

/** The reason that a person gives for an act. */
export const reason = text.trim().min(1).max(2000);

export const idempotencyKey = text.min(1).max(1024);

export const keyHeaderSchema = z.object({ 'idempotency-key': idempotencyKey.optional() });

/** A whole number of a query, in decimal digits. */
export function digits<T extends z.ZodType>(number: T) {
  return z.preprocess((given) => (/^\d{1,16}$/.test(String(given)) ? Number(given) : given), number);
}

export const pageQuerySchema = z.strictObject({
  limit: digits(z.int().min(1).max(500)).default(50),
  cursor: z.string().optional(),
});
export type PageQuery = z.infer<typeof pageQuerySchema>;

/** Records of a time in which they were recorded: `from` is in it, `to` is not. */
export const recordedIn = { from: instant.optional(), to: instant.optional() };

/**
 * Passed on as it was parsed: zod's record would leave out a member named `__proto__`, which is content like any other.
 */
export const jsonObject = z
  .custom<{ [name: string]: Json }>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  )
  .meta({ type: 'object', additionalProperties: true });
