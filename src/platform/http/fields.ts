import { z } from 'zod';
import type { Json } from '../../core/json/canonical.ts';

/** Text that is stored unchanged. PostgreSQL cannot store U+0000. */
export const text = z.string().refine((value) => !value.includes('\0'), 'contains the character U+0000');

/** date-time of RFC 3339 section 5.6, in which seconds are required. */
export const time = z.iso
  .datetime({ offset: true })
  .max(64)
  .refine((value) => /T\d{2}:\d{2}:\d{2}/.test(value), 'has no seconds');

/**
 * Time as UTC with milliseconds, rounded up. For records with milliseconds, `>=` and `<` then select the same as with
 * the exact time.
 */
export const instant = time.transform((value, context) => {
  const date = new Date(value);
  const rounded = /\.\d{3}\d*[1-9]/.test(value) ? new Date(date.getTime() + 1) : date;
  if (Number.isNaN(rounded.getTime()) || rounded.getUTCFullYear() > 9999 || rounded.getUTCFullYear() < 0) {
    context.addIssue('is outside the supported range of times');
    return z.NEVER;
  }
  return rounded.toISOString();
});

/** Reason that a person gives for an act. */
export const reason = text.trim().min(1).max(2000);

export const idempotencyKey = text.min(1).max(1024);

export const keyHeaderSchema = z.object({ 'idempotency-key': idempotencyKey.optional() });

/** Returns a schema for an integer in a query, in decimal digits. */
export function digits<T extends z.ZodType>(number: T) {
  return z.preprocess((given) => (/^\d{1,16}$/.test(String(given)) ? Number(given) : given), number);
}

export const pageQuerySchema = z.strictObject({
  limit: digits(z.int().min(1).max(500)).default(50),
  cursor: z.string().optional(),
});
export type PageQuery = z.infer<typeof pageQuerySchema>;

/** Period in which records were recorded: includes `from`, excludes `to`. */
export const recordedIn = { from: instant.optional(), to: instant.optional() };

/**
 * JSON object, passed on as parsed: zod's record would drop a member named `__proto__`, which is content like any
 * other.
 */
export const jsonObject = z
  .custom<{ [name: string]: Json }>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  )
  .meta({ type: 'object', additionalProperties: true });
