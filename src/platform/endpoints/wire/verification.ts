import { z } from 'zod';

const time = z.string();
const count = z.int();

export const endpointFindingSchema = z.object({
  code: z.enum([
    'report_digest',
    'report_signature',
    'report_chain',
    'report_missing',
    'report_unrecorded',
    'report_differs',
    'root_differs',
    'key_differs',
    'head_differs',
  ]),
  chain: count,
  sequence: count.nullable(),
  message: z.string(),
});
export type EndpointFinding = z.infer<typeof endpointFindingSchema>;

export const endpointVerificationSchema = z.object({
  endpoint_id: z.string(),
  verified: z.boolean(),
  checked_at: time,
  reports_checked: count,
  roots_checked: count,
  findings: z.array(endpointFindingSchema),
});

export const endpointStatsSchema = z.object({
  hosts: count,
  waiting: count,
  stale: count,
  isolated: count,
  without_baseline: count,
  proposed_baselines: count,
  /** Not resolved, and neither acknowledged nor quieted. */
  open_events: z.object({ low: count, medium: count, high: count, critical: count }),
  open_since: time.nullable(),
  reports_24h: count,
  last_report_at: time.nullable(),
});
export type EndpointStats = z.infer<typeof endpointStatsSchema>;
