import { z } from 'zod';
import { failureSchema } from '../model/failure.ts';
import { runIdSchema, timeSchema } from '../model/schemas.ts';
import { NOT_LISTED_CODES } from './claim.ts';

const count = z.int().min(0);

/** User who runs the program and the host it runs on, as the system states them. */
export const operatorSchema = z.strictObject({ user: z.string(), host: z.string() });
export type Operator = z.infer<typeof operatorSchema>;

/** Times at which a bundle's evidence was received, by the exporter's clock; RFC 3339 in UTC. */
export const collectedSchema = z.strictObject({
  /** Start of the export that received it. */
  export_started_at: timeSchema,
  /** Time of the first request. */
  requested_at: timeSchema,
  /** Time at which everything had arrived. */
  received_at: timeSchema,
});
export type Collected = z.infer<typeof collectedSchema>;

/** Forms in which the exporter found its own API key, and whether the operator accepts that. */
export const secretsFoundSchema = z.strictObject({ found_in: z.array(z.string()), accepted: z.boolean() });
export type SecretsFound = z.infer<typeof secretsFoundSchema>;

/** Statement of the service's list of streams about a stream, for all time; null if not stated. */
export const streamStatementSchema = z.strictObject({
  entries: count.nullable(),
  head: z.strictObject({ sequence: count.nullable(), hash: z.string().nullable() }),
});
export type StreamStatementDocument = z.infer<typeof streamStatementSchema>;

/** Statements of the service about a stream apart from its package; null if not stated. */
export const serviceStatementSchema = z.strictObject({
  /** Statement of the list of streams. */
  ...streamStatementSchema.shape,
  /** Number of entries in the service's listing of the requested period. */
  listed: count.nullable(),
  /** Result of the service's own check, and the entries that it found wrong, as far as they were kept. */
  verified: z.boolean().nullable(),
  failed_sequences: z.array(z.number()),
});
export type ServiceStatement = z.infer<typeof serviceStatementSchema>;

/**
 * Answer of the service about entries that the list of streams states and no export has: the entries after the last one
 * that this or an earlier export has.
 */
export const unfetchedSchema = z.strictObject({
  /** Number of that last entry; one less than a stream's first number if no export has any. */
  after: z.int().min(-1),
  /** Number of the newest entry, as the list of streams states it. */
  to: count,
  /** Number of the next listed entry; null if none is listed. */
  next: count.nullable(),
  /** Entries dated before the end of the newest exported period: consecutive numbers of one month, in order. */
  late: z.array(
    z.strictObject({ from: count, to: count, first_recorded_at: timeSchema, last_recorded_at: timeSchema }),
  ),
  /** True if there may be more than were requested. */
  more: z.boolean(),
  /** Null if the service answered. */
  failure: failureSchema.nullable(),
});
export type Unfetched = z.infer<typeof unfetchedSchema>;
export type LateRange = Unfetched['late'][number];

/** Reason why a package was not compared with the service's listing of its entries. */
export const notListedSchema = z.strictObject({ code: z.enum([...NOT_LISTED_CODES, 'not-read']), reason: z.string() });
export type NotListed = z.infer<typeof notListedSchema>;

/** Newest entry: its number, and its digest as the service states it. */
export const headSchema = z.strictObject({ sequence: count, hash: z.string() });

/** Head, and the run that saw it. */
export const seenHeadSchema = headSchema.extend({ run_id: runIdSchema });

/** Half-open span of time; null for no bound. RFC 3339 in UTC. */
export const periodSchema = z.strictObject({ from: timeSchema.nullable(), to: timeSchema.nullable() });

/** Facts about a stream's entries that later runs compare; digests as the service states them. */
export const seenFields = {
  /** Predecessor's digest that the first entry states. */
  previous_hash: z.string().nullable(),
  /** RFC 3339; null if entries have no time. */
  first_recorded_at: timeSchema.nullable(),
  last_recorded_at: timeSchema.nullable(),
  /**
   * True if every digest was recomputed and covers its whole entry and the digest before: the head stands for all
   * entries.
   */
  digests_bind: z.boolean(),
  /** Hash from `ContentHash`; null if digests bind or the entries were not hashed. */
  entries_sha256: z.string().nullable(),
};

/** Entries of one run, as a later run needs them. */
export const spanEntriesSchema = z.strictObject({
  first_sequence: count,
  head: headSchema,
  ...seenFields,
  previous_hash: z.string(),
  /** True if continuity was proved: the entries are those of every earlier run that has them. */
  agrees: z.boolean(),
});
export type SpanEntries = z.infer<typeof spanEntriesSchema>;

/** Entries that one run had of a stream. */
export const spanSchema = z.strictObject({
  run_id: runIdSchema,
  /** Period for which the package was requested. */
  period: periodSchema,
  /** True if only this part of the run's entries was read, from its bundle. */
  part: z.boolean(),
  /** Null if the package had no entries. */
  entries: spanEntriesSchema.nullable(),
});
export type Span = z.infer<typeof spanSchema>;

/**
 * Accepted explanation of why a stream ended or restarted: the entries of earlier runs are no longer compared with it.
 */
export const restartSchema = z.strictObject({
  reason: z.string(),
  accepted_by: operatorSchema,
  accepted_at: timeSchema,
  /** Head that the stream had in the ledger. */
  head: seenHeadSchema,
  /** Spans of the runs since the restart before this one, oldest first. */
  earlier: z.array(spanSchema),
});
export type Restart = z.infer<typeof restartSchema>;

/** Entries that earlier runs had of a stream. */
export interface StreamPast {
  /** Spans since the last restart, oldest first. */
  earlier: readonly Span[];
  /** Accepted restarts, oldest first. */
  restarts: readonly Restart[];
}
