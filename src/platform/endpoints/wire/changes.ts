import { z } from 'zod';
import { instant, pageQuerySchema, reason, text } from '../../http/fields.ts';
import { CHANGE_WINDOW_STATUSES, EVENT_SEVERITIES, EVENT_TYPES, PATH_EVENT_TYPES } from '../enums.ts';
import { explanationSchema } from './events.ts';

const time = z.string();
const count = z.int();

export const changeSchema = z.object({
  change_id: z.string(),
  event_type: z.enum(EVENT_TYPES),
  path: z.string().nullable(),
  path_base64: z.string().nullable(),
  expected_sha256: z.string().nullable(),
  observed_sha256: z.string().nullable(),
  explanation: explanationSchema,
  severity: z.enum(EVENT_SEVERITIES),
  /** On so many endpoints it stands now, of so many that could have it. */
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
  /** Events that it quieted. */
  events: count,
});
export type WireWindow = z.infer<typeof windowSchema>;
export const windowParamsSchema = z.object({ window_id: text });
