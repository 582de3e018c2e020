import { z } from 'zod';

const count = z.int().min(0);

export const statsSchema = z.object({
  streams: count,
  entries: count,
  /** Entries of the current hour, in UTC, and of the 24 hours before it. */
  entries_24h: count,
  verified_streams: count,
  failed_streams: count,
  unverified_streams: count,
  checkpoints: count,
  pending_anchors: count,
  evidence_packages: count,
  /**
   * Number of streams removed outside the service. Null if the sealed count was changed, which makes the number
   * unknowable; no stream is then counted as verified or failed.
   */
  missing_streams: count.nullable(),
  /** True if records of last checks were changed or removed outside the service; null as above. */
  checks_changed: z.boolean().nullable(),
});
export type WireStats = z.infer<typeof statsSchema>;

export const activitySchema = z.object({
  /** Days in UTC, without gaps. */
  days: z.array(z.object({ day: z.string(), entries: count })),
  /** Streams with the most entries. */
  streams: z.array(z.object({ stream_id: z.string(), entries: count })),
});
export type AuditActivity = z.infer<typeof activitySchema>;
