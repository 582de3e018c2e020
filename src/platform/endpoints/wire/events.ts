import { z } from 'zod';
import { ALERT_STATES } from '../../alert-enums.ts';
import { entryPlaceSchema } from '../../audit/api.ts';
import { instant, pageQuerySchema, reason, recordedIn, text } from '../../http/fields.ts';
import { CHANGE_WINDOW_STATUSES, EVENT_SEVERITIES, EVENT_STATUSES, EVENT_TYPES, PATH_EVENT_TYPES } from '../enums.ts';
import { lineObject } from './baselines.ts';

const time = z.string();
const count = z.int();

const signedPackageSchema = z.object({
  kind: z.literal('signed_package'),
  name: z.string(),
  version: z.string(),
  archive: z.string(),
  signed_by: z.string(),
});
const explanationSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('none') }),
  signedPackageSchema,
  z.object({ kind: z.literal('approved_change'), id: z.string() }),
]);
export type Explanation = z.infer<typeof explanationSchema>;

// Event. `expected` and `observed` are lines of a path, or expected and actual values of a report.
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

export const changeSchema = z.object({
  change_id: z.string(),
  event_type: z.enum(EVENT_TYPES),
  path: z.string().nullable(),
  path_base64: z.string().nullable(),
  expected_sha256: z.string().nullable(),
  observed_sha256: z.string().nullable(),
  explanation: explanationSchema,
  severity: z.enum(EVENT_SEVERITIES),
  /** Number of endpoints that have the change now, and of those that could have it. */
  places: count,
  of: count,
  first_seen: time,
  last_seen: time,
  approved_at: time.nullable(),
  approved_by: z.string().nullable(),
  approved_reason: z.string().nullable(),
});
export type WireChange = z.infer<typeof changeSchema>;
export const changeQuerySchema = pageQuerySchema.extend({ event_type: z.enum(PATH_EVENT_TYPES).optional() });
export const changeParamsSchema = z.object({ change_id: text });

export const newWindowSchema = z.strictObject({
  endpoint_ids: z.array(text.max(100)).min(1).max(10_000).optional(),
  all: z.literal(true).optional(),
  from: instant.optional(),
  until: instant,
  reason: reason,
});
export type NewWindow = z.output<typeof newWindowSchema>;

export const windowSchema = z.object({
  window_id: z.string(),
  status: z.enum(CHANGE_WINDOW_STATUSES),
  all: z.boolean(),
  endpoint_ids: z.array(z.string()),
  from: time,
  until: time,
  reason: z.string(),
  made_at: time,
  made_by: z.string(),
  approved_at: time.nullable(),
  approved_by: z.string().nullable(),
  approved_reason: z.string().nullable(),
  /** Number of events that the window quieted. */
  events: count,
});
export type WireWindow = z.infer<typeof windowSchema>;
export const windowParamsSchema = z.object({ window_id: text });

/** Archive whose package lists were imported. */
export const signedArchiveSchema = z.object({
  archive: z.string(),
  release_date: z.string().nullable(),
  release_sha256: z.string(),
  signed_by: z.array(z.string()),
  imported_at: z.string(),
  packages: z.int(),
  opened: z.int(),
  files: z.int(),
});
export type WireArchive = z.infer<typeof signedArchiveSchema>;
