import { z } from 'zod';
import { pageQuerySchema, reason, text } from '../../http/fields.ts';
import { BASELINE_STATUSES, EVENT_SEVERITIES, PATH_EVENT_TYPES } from '../enums.ts';
import { pathText, shortName } from './hosts.ts';
import { lines, part } from './reports.ts';

const time = z.string();
const count = z.int();

export const registrationSchema = z.strictObject({
  endpoint_id: text.max(100),
  name: shortName,
  roots: z.array(pathText).min(1).max(100),
  lines,
  complete: z.boolean(),
  part: part.default(1),
  parts: part.default(1),
});
export type Registration = z.output<typeof registrationSchema>;

export const proposalSchema = z.strictObject({ from: z.literal('latest_scan'), name: shortName, reason: reason });
export type Proposal = z.output<typeof proposalSchema>;

export const baselineParamsSchema = z.object({ baseline_id: text });
export const baselineSchema = z.object({
  baseline_id: z.string(),
  endpoint_id: z.string(),
  endpoint_name: z.string(),
  version: count,
  name: z.string(),
  status: z.enum(BASELINE_STATUSES),
  origin: z.enum(['registered', 'scan']),
  roots: z.array(z.string()),
  complete: z.boolean(),
  line_count: count,
  root_hash: z.string(),
  reason: z.string().nullable(),
  made_at: time,
  made_by: z.string(),
  decided_at: time.nullable(),
  decided_by: z.string().nullable(),
  decided_reason: z.string().nullable(),
});
export type WireBaseline = z.infer<typeof baselineSchema>;
export const baselineQuerySchema = pageQuerySchema.extend({
  endpoint_id: text.optional(),
  status: z.enum(BASELINE_STATUSES).optional(),
});

export const lineObject = z.looseObject({}).meta({ type: 'object', additionalProperties: true });
export const differenceSchema = z.object({
  path: z.string().nullable(),
  path_base64: z.string().nullable(),
  event_type: z.enum(PATH_EVENT_TYPES),
  severity: z.enum(EVENT_SEVERITIES),
  expected: lineObject.nullable(),
  observed: lineObject.nullable(),
});
export type WireDifference = z.infer<typeof differenceSchema>;

/** Page of differences, and the baseline that they are from; null for the first baseline. */
export const differencesSchema = z.object({
  compared_with: z.object({ baseline_id: z.string(), version: count }).nullable(),
  data: z.array(differenceSchema),
  next_cursor: z.string().nullable(),
});
