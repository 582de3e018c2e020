import { z } from 'zod';

const count = z.int().min(0);

/** When a bundle's evidence was received, by the clock of who exported; RFC 3339 in UTC. */
export const collectedSchema = z.strictObject({
  /** When the export had begun that received it. */
  export_started_at: z.string(),
  /** Of its first request. */
  from: z.string(),
  /** When all had arrived. */
  to: z.string(),
});
export type Collected = z.infer<typeof collectedSchema>;

/** What the service states of a stream besides its package; null where it states nothing. */
export const serviceStatementSchema = z.strictObject({
  /** By its list of streams: of all time, whatever the period. */
  entry_count: count.nullable(),
  head_sequence: count.nullable(),
  /** By its list of entries: of what the package was asked to hold. */
  listed: count.nullable(),
  /** By its own check, and the entries that it found wrong; as many as are kept. */
  verified: z.boolean().nullable(),
  failed_sequences: z.array(z.number()),
});
export type ServiceStatement = z.infer<typeof serviceStatementSchema>;
