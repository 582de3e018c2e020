import { z } from 'zod';
import { ALERT_STATES } from '../../alerts/enums.ts';
import { entryPlaceSchema } from '../../audit/api.ts';
import { instant, pageQuerySchema, recordedIn, text } from '../../http/fields.ts';
import { EVENT_SEVERITIES, EVENT_STATUSES, EVENT_TYPES } from '../enums.ts';
import { lineObject } from './baselines.ts';

const time = z.string();
const count = z.int();

export const signedPackageSchema = z.object({
  kind: z.literal('signed_package'),
  name: z.string(),
  version: z.string(),
  archive: z.string(),
  signed_by: z.string(),
});
export const explanationSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('none') }),
  signedPackageSchema,
  z.object({ kind: z.literal('approved_change'), id: z.string() }),
]);
export type Explanation = z.infer<typeof explanationSchema>;

// `expected` and `observed`: lines of a path; of a report, what it should have said and what it said.
export const eventSchema = z.object({
  event_id: z.string(),
  endpoint_id: z.string(),
  endpoint_name: z.string(),
  scan_id: z.string().nullable(),
  baseline_id: z.string().nullable(),
  change_id: z.string().nullable(),
  event_type: z.enum(EVENT_TYPES),
  severity: z.enum(EVENT_SEVERITIES),
  path: z.string().nullable(),
  path_base64: z.string().nullable(),
  expected_sha256: z.string().nullable(),
  observed_sha256: z.string().nullable(),
  expected: lineObject.nullable(),
  observed: lineObject.nullable(),
  explanation: explanationSchema,
  status: z.enum(EVENT_STATUSES),
  occurrences: count,
  first_seen: time,
  last_seen: time,
  resolved_at: time.nullable(),
  acknowledged_by: z.string().nullable(),
  acknowledged_at: time.nullable(),
  window_id: z.string().nullable(),
  alert: z.enum(ALERT_STATES),
  entry: entryPlaceSchema,
});
export type WireEvent = z.infer<typeof eventSchema>;
export const eventParamsSchema = z.object({ event_id: text });
export const eventQuerySchema = pageQuerySchema.extend({
  endpoint_id: text.optional(),
  event_type: z.enum(EVENT_TYPES).optional(),
  severity: z.enum(EVENT_SEVERITIES).optional(),
  status: z.enum(EVENT_STATUSES).optional(),
  since: instant.optional(),
  ...recordedIn,
  path: text.optional(),
  change_id: text.optional(),
  window_id: text.optional(),
});
export type EventQuery = z.infer<typeof eventQuerySchema>;
