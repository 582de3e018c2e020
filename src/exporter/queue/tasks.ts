import { z } from 'zod';
import { EvidenceError, type NextStep } from '../../core/errors.ts';
import { STATUSES } from '../../verifier/claims/claim.ts';
import { failureSchema } from '../../verifier/model/failure.ts';
import { runIdSchema, timeSchema } from '../../verifier/model/schemas.ts';
import {
  type RunRecord,
  runRecordSchema,
  streamFailureSchema,
  streamRecordSchema,
} from '../../verifier/records/record.ts';
import type { ListedStream } from '../export/plan.ts';
import type { StreamOutcome } from '../export/stream-jobs.ts';

/**
 * Documents in the database. They are validated as strictly as those in an archive, because other programs can write
 * there too.
 */

const count = z.int().min(0);
/** Options of a run beyond its asked.json. */
export const optionsSchema = z.strictObject({
  supersedes: z.array(runIdSchema),
  finalize_partial: z.boolean(),
  begin_signing: z.boolean(),
  service_moved: z.boolean(),
  /** W3C traceparent of the trace that the streams belong to; null if none is recorded. */
  trace_parent: z
    .string()
    .regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    .nullable(),
  /** Time after which streams that have not ended count as failed; null for no deadline. */
  deadline_at: timeSchema.nullable(),
});
export type RunOptions = z.infer<typeof optionsSchema>;

/** Job of pg-boss: a stream of an attempt, or its conclusion. */
export const taskSchema = z.strictObject({
  run_id: runIdSchema,
  started_at: timeSchema,
  /** Slug of the stream; null for the conclusion. */
  slug: z.string().nullable(),
});
export type Task = z.infer<typeof taskSchema>;

const listedSchema = z.strictObject({
  stream_id: z.string(),
  entry_count: count.nullable(),
  head_sequence: count.nullable(),
  head_digest: z.string().nullable(),
  drift: z.string().nullable(),
  /** The stream's record in the list, as JSON. */
  record: z.string(),
});

const nextStepSchema = z.union([
  z.string(),
  z.strictObject({ before: z.string().optional(), same: z.string().optional(), after: z.string().optional() }),
]) as z.ZodType<NextStep>;

/** Reason of a failed try. */
export const taskFailureSchema = failureSchema.extend({
  next_step: nextStepSchema.nullable(),
});
export type TaskFailure = z.infer<typeof taskFailureSchema>;

const unread = z.strictObject({ unread: z.boolean() }).nullable();
const outcomeSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('recorded'), sha256: z.string(), recovered: unread }),
  z.strictObject({
    kind: z.literal('incomplete'),
    record: streamRecordSchema.omit({ binding: true }),
    recovered: unread,
    is_refused: z.boolean(),
  }),
  z.strictObject({
    kind: z.literal('failed'),
    failure: streamFailureSchema.extend({ next_step: nextStepSchema }),
  }),
]);
type OutcomeDocument = z.infer<typeof outcomeSchema>;

/** Result of a run. Details of a finalized run are in the archive. */
export const conclusionSchema = z.strictObject({
  state: z.enum(['finalized', 'already', 'open']),
  outcome: z.enum(STATUSES),
  exit_code: count,
  refused: z.boolean(),
  /** Record of a run that stays open. */
  record: runRecordSchema.nullable(),
});
export interface Conclusion extends Omit<z.infer<typeof conclusionSchema>, 'record'> {
  record: RunRecord | null;
}

/**
 * Parses a document from the database.
 * @throws EvidenceError `unreadable` if this program does not write such documents.
 */
export function readKept<T>(schema: z.ZodType<T>, text: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  return checkKept(schema, value);
}

/** Checks a document that the database returns parsed, like `readKept`. */
export function checkKept<T>(schema: z.ZodType<T>, value: unknown): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const where = error.issues[0]?.path.join('.') ?? '';
  throw new EvidenceError('unreadable', `the queue contains data that this program did not write (at "${where}")`, {
    nextStep:
      'Find out who else writes to its database. Archived bundles are kept; to start a new queue, set queue.schema to another schema.',
  });
}

export function listedText({ streamId, entryCount, headSequence, headDigest, drift, record }: ListedStream): string {
  return JSON.stringify({
    stream_id: streamId,
    entry_count: entryCount,
    head_sequence: headSequence,
    head_digest: headDigest,
    drift,
    record,
  });
}

export function readListed(text: string): ListedStream {
  const listed = readKept(listedSchema, text);
  return {
    streamId: listed.stream_id,
    entryCount: listed.entry_count,
    headSequence: listed.head_sequence,
    headDigest: listed.head_digest,
    drift: listed.drift,
    record: listed.record,
  };
}

/** Serializes a stream's outcome. Details of a recorded stream are in the archive. */
export function outcomeText(outcome: StreamOutcome): string {
  return JSON.stringify(toDocument(outcome));
}

function toDocument(outcome: StreamOutcome): OutcomeDocument {
  if (outcome.kind === 'failed') return outcome;
  const recovered = outcome.recovered === null ? null : { unread: outcome.recovered.unread };
  if (outcome.kind === 'recorded') return { kind: 'recorded', sha256: outcome.stored.sha256, recovered };
  return { kind: 'incomplete', record: outcome.record, recovered, is_refused: outcome.isRefused };
}

/** @returns null for a recorded stream. */
export function readOutcome(text: string): StreamOutcome | null {
  const outcome = readKept(outcomeSchema, text);
  if (outcome.kind === 'recorded') return null;
  if (outcome.kind === 'failed') return outcome;
  const { record, recovered, is_refused: isRefused } = outcome;
  return { kind: 'incomplete', record, recovered: recovered === null ? null : { record, ...recovered }, isRefused };
}

/** @returns null for a stream that is not recorded. */
export function readRecorded(
  text: string,
): Pick<Extract<OutcomeDocument, { kind: 'recorded' }>, 'sha256' | 'recovered'> | null {
  const outcome = readKept(outcomeSchema, text);
  return outcome.kind === 'recorded' ? outcome : null;
}
