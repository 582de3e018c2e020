import { z } from 'zod';
import type { Json } from '../../core/json/canonical.ts';
import { depthOf } from './rules.ts';

/** A package nests an entry's metadata three levels deeper, and readers bound the depth of what they read. */
const MAX_METADATA_DEPTH = 128;

export const MAX_BATCH = 1000;

const name = z.string().min(1).max(1024);
const key = z.string().min(1).max(1024);

/** URL parsers resolve these as path segments even when they are percent-encoded, so that nobody could ask for them. */
const streamId = name.refine((id) => id !== '.' && id !== '..', 'cannot be "." or ".."');

/** RFC 3339 section 5.6 date-time; seconds are not optional there. */
const time = z.iso
  .datetime({ offset: true })
  .max(64)
  .regex(/T\d{2}:\d{2}:\d{2}/, 'has no seconds');

/**
 * A time as UTC with milliseconds, rounded up: of what is recorded with milliseconds, `>=` and `<` then select the
 * same as with the exact time.
 */
const instant = time.transform((text, context) => {
  const date = new Date(text);
  const rounded = /\.\d{3}\d*[1-9]/.test(text) ? new Date(date.getTime() + 1) : date;
  if (Number.isNaN(rounded.getTime()) || rounded.getUTCFullYear() > 9999 || rounded.getUTCFullYear() < 0) {
    context.addIssue('is not a time that can be compared');
    return z.NEVER;
  }
  return rounded.toISOString();
});

/**
 * Passed on as it was parsed: zod's record would leave out a member named `__proto__`, which is content like any other.
 */
const metadata = z
  .custom<{ [name: string]: Json }>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  )
  .refine((value) => depthOf(value) <= MAX_METADATA_DEPTH, `is nested deeper than ${MAX_METADATA_DEPTH} levels`)
  .meta({ type: 'object', additionalProperties: true });

export const newEntrySchema = z.strictObject({
  stream_id: streamId,
  actor: name,
  action: name,
  resource_type: name,
  resource_id: name,
  metadata: metadata.optional(),
  occurred_at: time.optional(),
  idempotency_key: key.optional(),
});
export type NewEntry = z.infer<typeof newEntrySchema>;

export const batchSchema = z.strictObject({ entries: z.array(newEntrySchema).min(1).max(MAX_BATCH) });

export const keyHeaderSchema = z.object({ 'idempotency-key': key.optional() });

const limit = z.coerce.number().int().min(1).max(500).default(50);

export const pageQuerySchema = z.strictObject({ limit, cursor: z.string().optional() });
export type PageQuery = z.infer<typeof pageQuerySchema>;

export const entriesQuerySchema = pageQuerySchema.extend({
  stream_id: z.string().optional(),
  actor: z.string().optional(),
  action: z.string().optional(),
  resource_type: z.string().optional(),
  resource_id: z.string().optional(),
  from: instant.optional(),
  to: instant.optional(),
  after_sequence: z.coerce.number().int().min(0).optional(),
});
export type EntriesQuery = z.infer<typeof entriesQuerySchema>;

export const generateSchema = z
  .strictObject({
    stream_id: z.string(),
    from: instant.nullish(),
    to: instant.nullish(),
    title: z.string().min(1).max(256).optional(),
  })
  .refine(({ from, to }) => !from || !to || from < to, { path: ['to'], message: 'is not after from' });
export type GenerateRequest = z.infer<typeof generateSchema>;

export const streamParamsSchema = z.object({ stream_id: z.string() });
export const packageParamsSchema = z.object({ package_id: z.string() });
export const verificationParamsSchema = z.object({ verification_id: z.string() });
