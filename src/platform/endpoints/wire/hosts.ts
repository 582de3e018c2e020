import { z } from 'zod';
import { pageQuerySchema, reason, text } from '../../http/fields.ts';
import { HOST_STATUSES } from '../enums.ts';
import { sensorBaitSchema } from './bait.ts';

/** Maximum length of a path. Linux paths are shorter; base64 of bytes that are not UTF-8 is a third longer. */
export const pathText = text.min(1).max(8192);

/** Maximum number of parts of one scan, for half a million lines. */
export const MOST_PARTS = 250;

export const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in lowercase hex');

/** Name of a person or a thing. */
export const shortName = text.trim().min(1).max(200);

const time = z.string();
const count = z.int();
const absolutePath = pathText.refine((value) => value.startsWith('/'), 'does not start with /');
const paths = z.array(absolutePath).min(1).max(100);

const DEFAULT_INTERVAL_SECONDS = 3600;

export const enrolmentSchema = z.strictObject({
  name: shortName,
  roots: paths.optional(),
  /** Other file systems under the roots that are scanned, too. */
  other_filesystems: z.array(absolutePath).max(100).default([]),
  scan_interval_seconds: z
    .int()
    .min(60)
    .max(7 * 86_400)
    .default(DEFAULT_INTERVAL_SECONDS),
});
export type Enrolment = z.output<typeof enrolmentSchema>;

export const hostParamsSchema = z.object({ endpoint_id: text });
export const reasonSchema = z.strictObject({ reason: reason });

export const nextReportSchema = z.object({
  sequence: count,
  previous_report_sha256: z.string().nullable(),
  nonce: z.string(),
});

/** Settings of an endpoint. */
const configured = {
  endpoint_id: z.string(),
  name: z.string(),
  roots: z.array(z.string()),
  other_filesystems: z.array(z.string()),
  scan_interval_seconds: count,
};

/** Enrolled endpoint, with `endpoint_token`, which is returned only once. */
export const enrolledSchema = z.object({
  ...configured,
  endpoint_token: z.string(),
  baseline: z.null(),
  message: z.string(),
});

export const settingsSchema = z.object({
  ...configured,
  public_key: z.string().nullable(),
  next: nextReportSchema,
  last_root_hash: z.string().nullable(),
  bait: z.array(sensorBaitSchema),
});

export const keyBindingSchema = z.strictObject({ public_key: z.string().max(100), proof: z.string().max(200) });
export const boundKeySchema = z.object({ public_key: z.string(), bound: z.boolean() });

const isolationSchema = z.object({
  isolated: z.boolean(),
  effect: z.literal('label_only'),
  network_action: z.literal('none'),
  since: time.nullable(),
  by: z.string().nullable(),
  reason: z.string().nullable(),
});

export const hostSchema = z.object({
  endpoint_id: z.string(),
  name: z.string(),
  status: z.enum(HOST_STATUSES),
  roots: z.array(z.string()),
  other_filesystems: z.array(z.string()),
  scan_interval_seconds: count,
  enrolled_at: time,
  last_report: z
    .object({
      scan_id: z.string(),
      sequence: count,
      received_at: time,
      root_hash: z.string(),
      line_count: count,
      complete: z.boolean(),
    })
    .nullable(),
  stale_at: time.nullable(),
  /** Intervals without a report in the last 24 hours. */
  missed_scans: count,
  chain: z.object({ number: count, public_key: z.string().nullable(), went_back_at: time.nullable() }),
  baseline: z.object({ baseline_id: z.string(), version: count, name: z.string() }).nullable(),
  /** Unresolved events by severity. */
  events: z.object({ low: count, medium: count, high: count, critical: count }),
  isolation: isolationSchema,
  retirement: z.object({ at: time, by: z.string(), reason: z.string() }).nullable(),
  /** Result of the last check of its reports. */
  last_check: z.object({ checked_at: time, verified: z.boolean(), reports_checked: count, findings: count }).nullable(),
  /** Summary in one sentence. */
  message: z.string(),
});
export type WireHost = z.infer<typeof hostSchema>;
export const hostQuerySchema = pageQuerySchema.extend({ status: z.enum(HOST_STATUSES).optional() });
export type HostQuery = z.infer<typeof hostQuerySchema>;
