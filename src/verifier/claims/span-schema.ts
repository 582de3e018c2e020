import { z } from 'zod';
import { runIdSchema, timeSchema } from '../model/schemas.ts';
import { operatorSchema } from './stated-schema.ts';

const count = z.int().min(0);

/** The newest entry: its number, and its digest as the service states it. */
export const headSchema = z.strictObject({ sequence: count, hash: z.string() });

/** A head, and the run that saw it. */
export const seenHeadSchema = headSchema.extend({ run_id: runIdSchema });

/** A span of time, half-open; null for no bound. RFC 3339 in UTC. */
export const periodSchema = z.strictObject({ from: timeSchema.nullable(), to: timeSchema.nullable() });

/** The facts about a stream's entries that later runs compare; digests as the service states them. */
export const seenFields = {
  /** The predecessor that the first entry names. */
  previous_hash: z.string().nullable(),
  /** RFC 3339; null where entries have no time. */
  first_recorded_at: timeSchema.nullable(),
  last_recorded_at: timeSchema.nullable(),
  /** Every digest was recomputed, and is over the whole entry and the digest before: the head stands for all of them. */
  digests_bind: z.boolean(),
  /** By `ContentHash`; null where digests bind, or the entries were not hashed. */
  entries_sha256: z.string().nullable(),
};

/** The entries of one run, as a later one needs them. */
export const spanEntriesSchema = z.strictObject({
  first_sequence: count,
  head: headSchema,
  ...seenFields,
  previous_hash: z.string(),
  /** Continuity was proved: they are the same as in every run before that has them too. */
  agrees: z.boolean(),
});
export type SpanEntries = z.infer<typeof spanEntriesSchema>;

/** The entries that one run had of a stream. */
export const spanSchema = z.strictObject({
  run_id: runIdSchema,
  /** The period that the package was asked for. */
  period: periodSchema,
  /** Only these of its entries, read from its bundle. */
  part: z.boolean(),
  /** Null where the package held none. */
  entries: spanEntriesSchema.nullable(),
});
export type Span = z.infer<typeof spanSchema>;

/** Somebody explained why a stream was ended or began anew: what runs before had of it is not compared with it any more. */
export const restartSchema = z.strictObject({
  reason: z.string(),
  accepted_by: operatorSchema,
  accepted_at: timeSchema,
  /** The one that the stream had in the ledger. */
  head: seenHeadSchema,
  /** Spans of the runs before, since the restart before this one; the oldest first. */
  earlier: z.array(spanSchema),
});
export type Restart = z.infer<typeof restartSchema>;

/** The entries that earlier runs had of a stream. */
export interface StreamPast {
  /** Since it last began anew; the oldest first. */
  earlier: readonly Span[];
  /** The oldest first. */
  restarts: readonly Restart[];
}
