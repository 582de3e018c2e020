import { z } from 'zod';
import { instant, pageQuerySchema, text } from '../http/fields.ts';
import { LINES_IN_A_PART } from './report/root.ts';
import {
  BASELINE_STATUSES,
  CHANGE_WINDOW_STATUSES,
  EVENT_SEVERITIES,
  EVENT_STATUSES,
  EVENT_TYPES,
  HOST_STATUSES,
  PATH_EVENT_TYPES,
} from './words.ts';

const time = z.string();
const count = z.int();
const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/, 'is not SHA-256 in lower-case hex');

/** A path of Linux is shorter; one that is not UTF-8 is a third longer in base64. */
const path = text.min(1).max(8192);
const absolutePath = path.refine((value) => value.startsWith('/'), 'does not begin with /');
const paths = z.array(absolutePath).min(1).max(100);

/** Parts of one scan, at most: half a million lines. */
export const MOST_PARTS = 100;

export const DEFAULT_INTERVAL_SECONDS = 3600;

export const enrolmentSchema = z.strictObject({
  name: text.trim().min(1).max(200),
  roots: paths.optional(),
  /** Other file systems under the roots that are walked, too. */
  other_filesystems: z.array(absolutePath).max(100).default([]),
  scan_interval_seconds: z.int().min(60).max(7 * 86_400).default(DEFAULT_INTERVAL_SECONDS),
});
export type Enrolment = z.output<typeof enrolmentSchema>;

export const hostParamsSchema = z.object({ endpoint_id: text });
export const reasonSchema = z.strictObject({ reason: text.trim().min(1).max(2000) });

export const nextReportSchema = z.object({
  sequence: count,
  previous_report_sha256: z.string().nullable(),
  nonce: z.string(),
});

/** `endpoint_token` is answered this once. */
export const enrolledSchema = z.object({
  endpoint_id: z.string(),
  name: z.string(),
  roots: z.array(z.string()),
  other_filesystems: z.array(z.string()),
  scan_interval_seconds: count,
  endpoint_token: z.string(),
  baseline: z.null(),
  message: z.string(),
});

export const settingsSchema = z.object({
  endpoint_id: z.string(),
  name: z.string(),
  roots: z.array(z.string()),
  other_filesystems: z.array(z.string()),
  scan_interval_seconds: count,
  public_key: z.string().nullable(),
  next: nextReportSchema,
  last_root_hash: z.string().nullable(),
  bait: z.array(z.never()),
});

export const keyBindingSchema = z.strictObject({ public_key: z.string().max(100), proof: z.string().max(200) });
export const boundKeySchema = z.object({ public_key: z.string(), bound: z.boolean() });

const owners = { mode: z.string().regex(/^[0-7]{4}$/), uid: z.int().min(0), gid: z.int().min(0) };
const name = { path: path.optional(), path_base64: path.optional() };
const size = z.int().min(0);
const why = z.string().regex(/^\w{1,40}$/);

export const lineSchema = z
  .discriminatedUnion('type', [
    z.strictObject({ ...name, ...owners, type: z.literal('file'), sha256: sha256Hex, size }),
    z.strictObject({
      ...{ ...name, ...owners, type: z.literal('link') },
      ...{ target: text.max(8192).optional(), target_base64: text.max(8192).optional() },
    }),
    z.strictObject({ ...name, ...owners, type: z.enum(['fifo', 'socket']) }),
    z.strictObject({ ...name, ...owners, type: z.literal('device'), device: z.string().max(64) }),
    z.strictObject({
      ...{ ...name, type: z.enum(['unreadable', 'unstable', 'other']), why, size: size.optional() },
      ...{ mode: owners.mode.optional(), uid: owners.uid.optional(), gid: owners.gid.optional() },
    }),
  ])
  .refine((line) => (line.path === undefined) !== (line.path_base64 === undefined), 'needs path or path_base64')
  .refine(
    (line) => line.type !== 'link' || (line.target === undefined) !== (line.target_base64 === undefined),
    'needs target or target_base64',
  );

const lines = z.array(lineSchema).max(LINES_IN_A_PART);
const part = z.int().min(1).max(MOST_PARTS);

export const reportSchema = z.strictObject({
  format: z.literal('evidence-endpoint-report/1'),
  scan_id: z.uuid(),
  endpoint_id: text.max(100),
  sequence: z.int().min(1),
  previous_report_sha256: sha256Hex.nullable(),
  nonce: z.string().max(100),
  boot_id: text.max(100),
  started_at: instant,
  finished_at: instant,
  roots: z.array(path).max(100),
  complete: z.boolean(),
  line_count: z.int().min(0).max(LINES_IN_A_PART * MOST_PARTS),
  root_hash: sha256Hex,
  parts: part,
  part,
  lines,
  /** Ed25519 over the RFC 8785 text of all above `part`, base64. */
  signature: z.string().max(200),
});
export type WireReport = z.output<typeof reportSchema>;

/** A part was taken, and others are missing. */
export const partTakenSchema = z.object({ part: count, next_part: count, parts: count });

export const reportTakenSchema = z.object({
  scan_id: z.string(),
  report_sha256: z.string(),
  sequence: count,
  next: nextReportSchema,
  baseline: z.object({ baseline_id: z.string() }).nullable(),
  events: z.object({ open: count, raised: count, resolved: count }),
  message: z.string(),
});
export type WireReportTaken = z.infer<typeof reportTakenSchema>;

export const scanSchema = z.object({
  scan_id: z.string(),
  endpoint_id: z.string(),
  chain: count,
  sequence: count,
  report_sha256: z.string(),
  received_at: time,
  started_at: time,
  finished_at: time,
  boot_id: z.string(),
  roots: z.array(z.string()),
  complete: z.boolean(),
  line_count: count,
  root_hash: z.string(),
  baseline_id: z.string().nullable(),
  events: z.object({ open: count, raised: count, resolved: count }),
});
export type WireScan = z.infer<typeof scanSchema>;
export const scanQuerySchema = pageQuerySchema.extend({ endpoint_id: text.optional() });

export const isolationSchema = z.object({
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
    .object({ scan_id: z.string(), sequence: count, received_at: time, root_hash: z.string(), line_count: count, complete: z.boolean() })
    .nullable(),
  stale_at: time.nullable(),
  /** Intervals without a report within the last 24 hours. */
  missed_scans: count,
  chain: z.object({ number: count, public_key: z.string().nullable(), went_back_at: time.nullable() }),
  baseline: z.object({ baseline_id: z.string(), version: count, name: z.string() }).nullable(),
  /** Not resolved ones, by how bad they are. */
  events: z.object({ low: count, medium: count, high: count, critical: count }),
  isolation: isolationSchema,
  /** What is to be known of it, in one sentence. */
  message: z.string(),
});
export type WireHost = z.infer<typeof hostSchema>;
export const hostQuerySchema = pageQuerySchema.extend({ status: z.enum(HOST_STATUSES).optional() });
export type HostQuery = z.infer<typeof hostQuerySchema>;

export const registrationSchema = z.strictObject({
  endpoint_id: text.max(100),
  name: text.trim().min(1).max(200),
  roots: z.array(path).min(1).max(100),
  lines,
  complete: z.boolean(),
  part: part.default(1),
  parts: part.default(1),
});
export type Registration = z.output<typeof registrationSchema>;

export const proposalSchema = z.strictObject({
  from: z.literal('latest_scan'),
  name: text.trim().min(1).max(200),
  reason: text.trim().min(1).max(2000),
});
export type Proposal = z.output<typeof proposalSchema>;

export const baselineParamsSchema = z.object({ baseline_id: text });
export const baselineSchema = z.object({
  baseline_id: z.string(),
  endpoint_id: z.string(),
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

const lineObject = z.looseObject({}).meta({ type: 'object', additionalProperties: true });
export const differenceSchema = z.object({
  path: z.string().nullable(),
  path_base64: z.string().nullable(),
  event_type: z.enum(PATH_EVENT_TYPES),
  severity: z.enum(EVENT_SEVERITIES),
  expected: lineObject.nullable(),
  observed: lineObject.nullable(),
});
export type WireDifference = z.infer<typeof differenceSchema>;

export const signedPackageSchema = z.object({
  kind: z.literal('signed_package'),
  name: z.string(),
  version: z.string(),
  archive: z.string(),
  signed_by: z.string(),
});
export const explanationSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('none') }),
  z.object({ kind: z.literal('claimed_by_endpoint') }),
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
  alert: z.string(),
  entry: z.object({ stream_id: z.string(), sequence: count }),
});
export type WireEvent = z.infer<typeof eventSchema>;
export const eventParamsSchema = z.object({ event_id: text });
export const eventQuerySchema = pageQuerySchema.extend({
  endpoint_id: text.optional(),
  event_type: z.enum(EVENT_TYPES).optional(),
  severity: z.enum(EVENT_SEVERITIES).optional(),
  status: z.enum(EVENT_STATUSES).optional(),
  since: instant.optional(),
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
  /** On so many endpoints it stands now, of so many that could have it. */
  places: count,
  of: count,
  first_seen: time,
  last_seen: time,
});
export type WireChange = z.infer<typeof changeSchema>;
export const changeParamsSchema = z.object({ change_id: text });

export const newWindowSchema = z.strictObject({
  endpoint_ids: z.array(text.max(100)).min(1).max(10_000).optional(),
  all: z.literal(true).optional(),
  from: instant.optional(),
  until: instant,
  reason: text.trim().min(1).max(2000),
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
