import { z } from 'zod';
import { runIdSchema, timeSchema } from '../model/schemas.ts';

const count = z.int().min(0);

/** The user who runs the program and the host it runs on, as the system states them. */
export const operatorSchema = z.strictObject({ user: z.string(), host: z.string() });
export type Operator = z.infer<typeof operatorSchema>;

/** When a bundle's evidence was received, by the clock of who exported; RFC 3339 in UTC. */
export const collectedSchema = z.strictObject({
  /** When the export had begun that received it. */
  export_started_at: timeSchema,
  /** The time of its first request. */
  requested_at: timeSchema,
  /** When all had arrived. */
  received_at: timeSchema,
});
export type Collected = z.infer<typeof collectedSchema>;

/** Forms in which the exporter found its own API key, and that it was told to accept that. */
export const secretsFoundSchema = z.strictObject({ found_in: z.array(z.string()), accepted: z.boolean() });
export type SecretsFound = z.infer<typeof secretsFoundSchema>;

/** A stream in the service's list of streams, of all time, whatever the period; null for what the list does not state. */
export const streamStatementSchema = z.strictObject({
  entries: count.nullable(),
  head: z.strictObject({ sequence: count.nullable(), hash: z.string().nullable() }),
});
export type StreamStatementDocument = z.infer<typeof streamStatementSchema>;

/** The service's statements about a stream besides its package; null where it makes none. */
export const serviceStatementSchema = z.strictObject({
  /** By its list of streams. */
  ...streamStatementSchema.shape,
  /** By its list of entries: of what the package was asked to hold. */
  listed: count.nullable(),
  /** By its own check, and the entries that it found wrong; as many as are kept. */
  verified: z.boolean().nullable(),
  failed_sequences: z.array(z.number()),
});
export type ServiceStatement = z.infer<typeof serviceStatementSchema>;

/**
 * Answer of the service about entries that the list of streams states and that no export has: it was asked for the
 * entries after the last one that this or an earlier export has.
 */
export const unfetchedSchema = z.strictObject({
  /** Number of that last entry; one less than the first number of a stream where no export has any. */
  after: z.int().min(-1),
  /** Number of the newest entry, as the list of streams states it. */
  to: count,
  /** Number of the entry that is listed next; null where none is. */
  next: count.nullable(),
  /**
   * Entries dated before the end of the newest period that was exported: consecutive numbers of one month, in order.
   */
  late: z.array(
    z.strictObject({ from: count, to: count, first_recorded_at: timeSchema, last_recorded_at: timeSchema }),
  ),
  /** True where there may be more of them than were asked for. */
  more: z.boolean(),
  /** The reason that the service did not answer; null if it did. */
  failure: z.string().nullable(),
});
export type Unfetched = z.infer<typeof unfetchedSchema>;
export type LateRange = Unfetched['late'][number];

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
