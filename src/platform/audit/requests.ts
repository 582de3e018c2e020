import { z } from 'zod';
import { digits, idempotencyKey, instant, jsonObject, pageQuerySchema, text, time } from '../http/fields.ts';
import { isOwnStream, ownStreamsInWords } from './own-streams.ts';
import { saysRotated } from './seal-keys.ts';

export const MAX_BATCH = 1000;

/** PostgreSQL indexes no more than 2,704 bytes of it. */
const MAX_STREAM_ID_BYTES = 2048;

const name = text.min(1).max(1024);

/** URL parsers resolve these as path segments even when they are percent-encoded, so that nobody could ask for them. */
const streamId = name
  .refine((id) => id !== '.' && id !== '..', 'cannot be "." or ".."')
  .refine((id) => Buffer.byteLength(id) <= MAX_STREAM_ID_BYTES, `has more than ${MAX_STREAM_ID_BYTES} bytes of UTF-8`);

/** The stream of an entry that somebody sends. */
const openStreamId = streamId.refine(
  (id) => !isOwnStream(id),
  `is one of those that the platform itself writes: ${ownStreamsInWords()}`,
);

export const newEntrySchema = z
  .strictObject({
    stream_id: openStreamId,
    actor: name,
    action: name,
    resource_type: name,
    resource_id: name,
    metadata: jsonObject.optional(),
    occurred_at: time.optional(),
    idempotency_key: idempotencyKey.optional(),
  })
  .refine((entry) => !saysRotated(entry), {
    path: ['action'],
    message: 'of a resource_type "seal_key" the service alone writes "key.rotated"',
  });
export type NewEntry = z.infer<typeof newEntrySchema>;

export const batchSchema = z.strictObject({ entries: z.array(newEntrySchema).min(1).max(MAX_BATCH) });

export const entriesQuerySchema = pageQuerySchema.extend({
  stream_id: text.optional(),
  actor: text.optional(),
  action: text.optional(),
  resource_type: text.optional(),
  resource_id: text.optional(),
  from: instant.optional(),
  to: instant.optional(),
  after_sequence: digits(z.int().min(0)).optional(),
});
export type EntriesQuery = z.infer<typeof entriesQuerySchema>;

export const streamsQuerySchema = pageQuerySchema.extend({
  /** The beginning of ids. */
  begins_with: text.optional(),
  /** The result of the last check. */
  verification_status: z.enum(['failed']).optional(),
});
export type StreamsQuery = z.infer<typeof streamsQuerySchema>;

export const generateSchema = z
  .strictObject({
    stream_id: text,
    from: instant.nullish(),
    to: instant.nullish(),
    title: text.min(1).max(256).optional(),
  })
  .refine(({ from, to }) => !from || !to || from < to, { path: ['to'], message: 'is not after from' });
export type GenerateRequest = z.infer<typeof generateSchema>;

export const streamParamsSchema = z.object({ stream_id: text });
export const packageParamsSchema = z.object({ package_id: text });
export const verificationParamsSchema = z.object({ verification_id: text });
