import { z } from 'zod';
import { FORMATS } from '../../core/formats.ts';
import { failureSchema } from '../model/failure.ts';
import { runIdSchema, timeSchema } from '../model/schemas.ts';
import { SUPPLEMENT_FINDING_CODES } from '../model/supplement-finding.ts';
import { KIND_NAMES, type RecordKind, type SupplementService } from './files.ts';

/**
 * Statements of a bag with supplements, and of its run record, about the evidence of other services. Times are RFC 3339
 * in UTC, digests lower-case hex.
 */

const count = z.int().min(0);

/** Result for one service. A missing service has no file in the bag. */
export const serviceStateSchema = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('collected'), origin: z.string(), collected_at: timeSchema }),
  z.strictObject({
    state: z.literal('missing'),
    origin: z.string(),
    collected_at: timeSchema,
    ...failureSchema.shape,
    next_step: z.string(),
  }),
  z.strictObject({ state: z.literal('not_configured') }),
]);
export type SupplementState = z.infer<typeof serviceStateSchema>;

/**
 * States of a record. `proved_by_entry`: its entry is in a bundle of the run whose order and content are proved, and
 * states the same. `contradicted`: its entry states something else, or its stream is refuted. `no_entry`: it names no
 * entry, but should.
 */
const RECORD_STATE_NAMES = ['proved_by_entry', 'contradicted', 'unproved', 'no_entry'] as const;
export type RecordStateName = (typeof RECORD_STATE_NAMES)[number];

/** Reasons why a record is neither proved nor contradicted. */
export const RECORD_OPEN_CODES = [
  'no-entries-named',
  'stream-not-read',
  'stream-not-proved',
  'not-covered',
  'outside-bundle',
  'gap',
  'ambiguous-entry',
  'another-entry',
  'inexact-number',
] as const;
export type RecordOpenCode = (typeof RECORD_OPEN_CODES)[number];

export const recordCountsSchema = z.strictObject({
  /** Number of records as received, of any time; a record received twice counts once. */
  records: count,
  /**
   * Records of the run's period, by their own times or, if contradicted, by an entry's. Sum of the four counts below.
   */
  in_period: count,
  proved_by_entry: count,
  contradicted: count,
  unproved: count,
  no_entry: count,
  /** Records that entries of the bundles name, but that were not received. */
  missing: count,
});
export type KindCounts = z.infer<typeof recordCountsSchema>;

export const supplementFindingSchema = z.strictObject({
  code: z.enum(SUPPLEMENT_FINDING_CODES),
  severity: z.enum(['error', 'warning', 'notice']),
  kind: z.enum(KIND_NAMES),
  id: z.string(),
  records: count,
  stream_id: z.string().optional(),
  sequence: count.optional(),
  expected: z.string().optional(),
  actual: z.string().optional(),
  message: z.string(),
});

/** State of one record of the period: a line of `data/records.jsonl`. */
export const recordStateSchema = z.strictObject({
  kind: z.enum(KIND_NAMES),
  id: z.string(),
  state: z.enum(RECORD_STATE_NAMES),
  /** Code of the reason; for an unproved record only. */
  code: z.enum(RECORD_OPEN_CODES).optional(),
  /** Reason why it is not proved. */
  reason: z.string().optional(),
  /** Columns of a proved record that no entry states, so that they are only the service's word. */
  as_reported: z.array(z.string()).optional(),
  /** Entry that the record names; `hash` if it names the digest. */
  entry: z.strictObject({ stream_id: z.string(), sequence: count, hash: z.string().optional() }).optional(),
});
export type RecordState = z.infer<typeof recordStateSchema>;

type Services = Record<SupplementService, typeof serviceStateSchema>;
type Kinds = Record<RecordKind, z.ZodOptional<typeof recordCountsSchema>>;

/** Statement in the bag and in the run record. */
export const supplementsStatementSchema = z.strictObject({
  services: z.strictObject({
    audit: serviceStateSchema,
    traps: serviceStateSchema,
    endpoints: serviceStateSchema,
    agents: serviceStateSchema,
  } satisfies Services),
  /** Counts of the collected kinds. */
  kinds: z.strictObject({
    detections: recordCountsSchema.optional(),
    events: recordCountsSchema.optional(),
    scans: recordCountsSchema.optional(),
    verifications: recordCountsSchema.optional(),
    actions: recordCountsSchema.optional(),
  } satisfies Kinds),
  /** Findings, at most a thousand of each code. */
  findings: z.array(supplementFindingSchema),
  findings_count: count,
});
export type SupplementsStatement = z.infer<typeof supplementsStatementSchema>;

/** `data/supplements.json`. */
export const supplementsDocumentSchema = z.strictObject({
  format: z.literal(FORMATS.supplements),
  run_id: runIdSchema,
  period: z.strictObject({ from: timeSchema.nullable(), to: timeSchema.nullable() }),
  ...supplementsStatementSchema.shape,
});
export const SUPPLEMENTS_RECORD = { schema: supplementsDocumentSchema, maxBytes: 64 * 2 ** 20 };
