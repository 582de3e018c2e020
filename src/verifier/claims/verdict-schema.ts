import { z } from 'zod';
import { ADVICE_CODES } from '../model/finding.ts';
import { timeSchema } from '../model/schemas.ts';
import { FINDING_CODES } from '../model/stream-finding.ts';
import { CLAIMS, OPEN_CODES, STATUSES } from './claim.ts';
import { headSchema, seenFields } from './schemas.ts';

const count = z.int().min(0);

const claimSchema = z.strictObject({
  state: z.enum(['proved', 'refuted', 'unproved']),
  code: z.enum(OPEN_CODES).optional(),
  reason: z.string().optional(),
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
  advice: z
    .strictObject({
      code: z.enum(ADVICE_CODES),
      run_id: z.string().optional(),
      accepted_at: z.string().optional(),
      accepted_by: z.string().optional(),
    })
    .optional(),
});

/**
 * Clones the counts: V8 keeps an object that zod built member by member as a hash table of four times the size, and a
 * run has one per stream.
 */
const countsSchema = z.record(z.string(), count).transform((counts) => structuredClone(counts));

const activitySchema = z.strictObject({
  per: z.enum(['day', 'month', 'year']),
  counts: countsSchema,
  undated: count,
});

/**
 * Numbers by action as pairs, most frequent first: names come from outside, and `z.record` drops a member `__proto__`.
 */
const actionsSchema = z.strictObject({
  counts: z.array(z.tuple([z.string(), count])),
  others: count,
});

type ClaimSchemas = Record<(typeof CLAIMS)[number], typeof claimSchema>;

/** Verdict on one stream, as written into its bundle, its stream record and the run record. */
export const verdictSchema = z.strictObject({
  stream_id: z.string(),
  status: z.enum(STATUSES),
  package_id: z.string().nullable(),
  entries: count,
  first_sequence: count.nullable(),
  head: headSchema.nullable(),
  ...seenFields,
  /** Times at which the entries with the lowest and the highest number happened, as stated; null if not stated. */
  first_occurred_at: timeSchema.nullable(),
  last_occurred_at: timeSchema.nullable(),
  claims: z.strictObject(Object.fromEntries(CLAIMS.map((name) => [name, claimSchema])) as ClaimSchemas),
  findings: z.array(findingSchema),
  findings_count: count,
  /** Entries by time of recording, as stated. */
  activity: activitySchema,
  /** Numbers of entries by action, as counted in the entries; null if the service's summary states none. */
  actions: actionsSchema.nullable(),
});
