import { z } from 'zod';
import { timeSchema } from '../model/schemas.ts';
import { FINDING_CODES } from '../model/stream-finding.ts';
import { CLAIMS, LACKED_INPUTS, STATUSES } from './claim.ts';
import { headSchema, seenFields } from './schemas.ts';

const count = z.int().min(0);

const claimSchema = z.strictObject({
  state: z.enum(['proved', 'refuted', 'unproved']),
  reason: z.string().optional(),
  lacks: z.enum(LACKED_INPUTS).optional(),
  basis: z.string().optional(),
  anchored_through: count.optional(),
  entries_after_last_anchor: count.optional(),
  anchored_from: timeSchema.optional(),
  anchored_to: timeSchema.optional(),
  authorities: z.array(z.string()).optional(),
  tokens_not_judged: count.optional(),
  not_covered: z.array(z.string()).optional(),
  by_contract: z.string().optional(),
});

export const findingSchema = z.strictObject({
  code: z.enum(FINDING_CODES),
  severity: z.enum(['error', 'warning', 'notice']),
  stream_id: z.string(),
  sequence: count.optional(),
  from: count.optional(),
  to: count.optional(),
  entry_id: z.string().optional(),
  recorded_at: z.string().optional(),
  actor: z.string().optional(),
  action: z.string().optional(),
  expected: z.string().optional(),
  actual: z.string().optional(),
  message: z.string(),
  next_step: z.string(),
});

/**
 * V8 keeps what zod builds member by member as a hash table, of four times the size, and a run has one of these for
 * each stream.
 */
const countsSchema = z.record(z.string(), count).transform((counts) => structuredClone(counts));

const activitySchema = z.strictObject({
  per: z.enum(['day', 'month', 'year']),
  counts: countsSchema,
  undated: count,
});

/** Names come from outside, and `z.record` drops the member `__proto__`: as pairs, the most frequent first. */
const actionsSchema = z.strictObject({
  counts: z.array(z.tuple([z.string(), count])),
  others: count,
});

type ClaimSchemas = Record<(typeof CLAIMS)[number], typeof claimSchema>;

/** The verdict on one stream, as it stands in a bundle, in its stream record and in the run record. */
export const verdictSchema = z.strictObject({
  stream_id: z.string(),
  status: z.enum(STATUSES),
  package_id: z.string().nullable(),
  entries: count,
  first_sequence: count.nullable(),
  head: headSchema.nullable(),
  ...seenFields,
  /** When the entries with the lowest and the highest number happened, as they say; null where they do not. */
  first_occurred_at: timeSchema.nullable(),
  last_occurred_at: timeSchema.nullable(),
  claims: z.strictObject(Object.fromEntries(CLAIMS.map((name) => [name, claimSchema])) as ClaimSchemas),
  findings: z.array(findingSchema),
  findings_count: count,
  /** When the entries were recorded, as they say themselves. */
  activity: activitySchema,
  /** The actions as the service's summary counts them; null where it does not, or counts other than the entries there are. */
  actions: actionsSchema.nullable(),
});
