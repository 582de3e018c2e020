import { z } from 'zod';
import { timeSchema } from '../model/schemas.ts';

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

const number = z.int().min(0);

/**
 * Answer of the service about entries that the list of streams states and that no export has: it was asked for the
 * entries after the last one that this or an earlier export has.
 */
export const unfetchedSchema = z.strictObject({
  /** Number of that last entry; one less than the first number of a stream where no export has any. */
  after: z.int().min(-1),
  /** Number of the newest entry, as the list of streams states it. */
  to: number,
  /** Number of the entry that is listed next; null where none is. */
  next: number.nullable(),
  /**
   * Entries dated before the end of the newest period that was exported: consecutive numbers of one month, in order.
   */
  late: z.array(
    z.strictObject({ from: number, to: number, first_recorded_at: timeSchema, last_recorded_at: timeSchema }),
  ),
  /** True where there may be more of them than were asked for. */
  more: z.boolean(),
  /** The reason that the service did not answer; null if it did. */
  failure: z.string().nullable(),
});
export type Unfetched = z.infer<typeof unfetchedSchema>;
export type LateRange = Unfetched['late'][number];
