import { z } from 'zod';
import {
  digits,
  time as givenTime,
  idempotencyKey,
  instant,
  jsonObject,
  pageQuerySchema,
  text,
} from '../http/fields.ts';
import { MODULES } from '../modules.ts';
import { plainId, saysCorrected, saysRotated } from './enums.ts';
import { entryFilters } from './wire/filters.ts';

/**
 * Default contract of the audit service: the wire shapes that the platform serves, and that the exporter expects unless
 * a contract file differs. Digests are lower-case hex; times are RFC 3339 in UTC with milliseconds.
 */

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const time = z.string();
const count = z.int().min(0);
const sequence = z.int().min(1);

export const entrySchema = z.object({
  entry_id: z.string(),
  stream_id: z.string(),
  sequence,
  /** Time at which the service recorded the entry. The time is hashed, so its text is kept as sent. */
  timestamp: time,
  /** Time at which the event happened, according to the caller. */
  occurred_at: time.optional(),
  actor: z.string(),
  action: z.string(),
  resource_type: z.string(),
  resource_id: z.string(),
  /** Authenticated caller that sent the entry: `key:ID`; `platform` for the platform's own entries. */
  recorded_by: z.string(),
  metadata: z.record(z.string(), z.json()),
  prev_hash: digest,
  seal_key_id: z.string(),
  /** SHA-256 of the RFC 8785 form of the entry without `hash` and `seal`. */
  hash: digest,
  /** HMAC-SHA-256 under the key named by `seal_key_id`, over the 64 ASCII characters of `hash`. */
  seal: z.string(),
});
export type WireEntry = z.infer<typeof entrySchema>;

export const streamSchema = z.object({
  stream_id: z.string(),
  entry_count: count,
  head_sequence: count,
  head_hash: digest.nullable(),
  created_at: time,
  last_entry_at: time.nullable(),
  /** True after a successful check; new entries do not clear it. */
  verified: z.boolean(),
  verification_status: z.enum(['unverified', 'verified', 'failed']),
  last_checked_at: time.nullable(),
  verified_through_sequence: count.nullable(),
});
export type WireStream = z.infer<typeof streamSchema>;

export const wireVerificationSchema = z.object({
  verification_id: z.string(),
  stream_id: z.string(),
  verified: z.boolean(),
  checked_at: time,
  entries_checked: count,
  from_sequence: count.nullable(),
  to_sequence: count.nullable(),
  head_hash: digest.nullable(),
  /** Number of entries that state that the clock went back, and from where. */
  clock_corrections: count,
  failures: z.array(
    z.object({ code: z.string(), sequence: count, expected: z.string().nullable(), actual: z.string().nullable() }),
  ),
});
export type WireVerification = z.infer<typeof wireVerificationSchema>;

export const checkpointSchema = z.object({
  checkpoint_id: z.string(),
  stream_id: z.string(),
  sequence,
  /** Digest of the entry at `sequence`, which is the message imprint of the token. */
  hash: digest,
  created_at: time,
  anchor: z.object({
    status: z.enum(['anchored', 'pending', 'failed']),
    /**
     * Kind of authority. `development` is the authority built into the platform, which is not an independent witness.
     */
    authority: z.enum(['external', 'development']).optional(),
    tsa_url: z.string().nullable(),
    gen_time: time.nullable(),
    /** Base64 of the DER of an RFC 3161 TimeStampResp (section 2.4.2) or of the bare token. */
    token: z.string().nullable(),
  }),
});
export type WireCheckpoint = z.infer<typeof checkpointSchema>;

const wirePeriodSchema = z.object({ from: time.nullable(), to: time.nullable() });

/** Range of the entries of a package. */
const extent = {
  entry_count: count,
  first_sequence: sequence.nullable(),
  last_sequence: sequence.nullable(),
  head_hash: digest.nullable(),
};

/** Members of a package except `entries`, which come last and are streamed. */
export const packageHeadSchema = z.object({
  format: z.literal('evidence-package/1'),
  package_id: z.string(),
  stream: z.looseObject({ stream_id: z.string() }),
  period: wirePeriodSchema.nullable(),
  generated_at: time,
  ...extent,
  checkpoints: z.array(checkpointSchema),
});
export type WirePackageHead = z.infer<typeof packageHeadSchema>;

const tally = z.record(z.string(), count);

export const summarySchema = z.object({
  package_id: z.string(),
  stream_id: z.string(),
  period: wirePeriodSchema.nullable(),
  ...extent,
  first_timestamp: time.nullable(),
  last_timestamp: time.nullable(),
  counts: z.object({ actors: tally, actions: tally, resource_types: tally }),
  verification: z.object({ verified: z.boolean(), last_checked_at: time.nullable() }),
  limitations: z.array(z.string()),
});
export type WireSummary = z.infer<typeof summarySchema>;

export const generatedSchema = z.object({
  package_id: z.string(),
  status: z.enum(['ready', 'pending']),
  stream_id: z.string(),
  entry_count: count,
  created_at: time,
});
export type WireGenerated = z.infer<typeof generatedSchema>;

/** Streams that the platform itself writes; a name that ends with a slash stands for all ids with this prefix. */
const OWN_STREAMS = MODULES.flatMap<string>((module) => ('streams' in module ? module.streams : []));

/** Reports whether only the platform itself may append to a stream. */
export function isOwnStream(streamId: string): boolean {
  return OWN_STREAMS.some((own) => (own.endsWith('/') ? streamId.startsWith(own) : streamId === own));
}

const MAX_BATCH = 1000;
/** Maximum length of a stream id. PostgreSQL indexes no more than 2,704 bytes. */
const MAX_STREAM_ID_BYTES = 2048;

const name = text.min(1).max(1024);

const inWords = (own: string) => (own.endsWith('/') ? `IDs that begin with "${own}"` : `"${own}"`);

/** Stream id of an entry from a caller. Dots are refused, because URL parsers resolve them even if percent-encoded. */
const openStreamId = name
  .refine((id) => id !== '.' && id !== '..', 'cannot be "." or ".."')
  .refine((id) => Buffer.byteLength(id) <= MAX_STREAM_ID_BYTES, `has more than ${MAX_STREAM_ID_BYTES} bytes of UTF-8`)
  .refine((id) => plainId(id) !== '', 'has no visible character')
  .refine(
    (id) => !isOwnStream(plainId(id)),
    `looks like an ID that is reserved for the platform: ${OWN_STREAMS.map(inWords).join(', ')}`,
  );

export const newEntrySchema = z
  .strictObject({
    stream_id: openStreamId,
    actor: name,
    action: name,
    resource_type: name,
    resource_id: name,
    metadata: jsonObject.optional(),
    occurred_at: givenTime.optional(),
    idempotency_key: idempotencyKey.optional(),
  })
  .refine((entry) => !saysRotated(entry), {
    path: ['action'],
    message: 'only the service may write "key.rotated" for resource_type "seal_key"',
  })
  .refine((entry) => !saysCorrected(entry), {
    path: ['action'],
    message: 'only the service may write "clock.corrected" for resource_type "clock"',
  });
export type NewEntry = z.infer<typeof newEntrySchema>;

export const batchSchema = z.strictObject({ entries: z.array(newEntrySchema).min(1).max(MAX_BATCH) });

/** Maximum number of streams of a list. */
const MAX_STREAMS = 50;

export const entriesQuerySchema = pageQuerySchema.extend({
  /** Stream, or several of them. */
  stream_id: z.preprocess(
    (given) => (typeof given === 'string' ? [given] : given),
    z.array(text).min(1).max(MAX_STREAMS).optional(),
  ),
  ...entryFilters,
  /** Sequence number after which entries are listed. */
  after_sequence: digits(z.int().min(0)).optional(),
  order: z.enum(['oldest', 'newest']).default('oldest'),
});
export type EntriesQuery = z.infer<typeof entriesQuerySchema>;

export const streamsQuerySchema = pageQuerySchema.extend({
  /** Prefix of ids. */
  begins_with: text.optional(),
  /** Result of the last check; `stale` if entries came after it, whatever its result. */
  verification_status: z.enum(['unverified', 'verified', 'failed', 'stale']).optional(),
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
