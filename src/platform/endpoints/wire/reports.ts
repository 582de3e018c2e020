import { z } from 'zod';
import { LINES_IN_A_PART } from '../../../sensor/report/root.ts';
import { entryPlaceSchema } from '../../audit/api.ts';
import { pageQuerySchema, recordedIn, text, time } from '../../http/fields.ts';
import { MOST_PARTS, nextReportSchema, pathText, sha256Hex } from './hosts.ts';

const count = z.int();
const owners = { mode: z.string().regex(/^[0-7]{4}$/), uid: z.int().min(0), gid: z.int().min(0) };
const name = { path: pathText.optional(), path_base64: pathText.optional() };
const size = z.int().min(0);
const why = z.string().regex(/^\w{1,40}$/);

const lineSchema = z
  .discriminatedUnion('type', [
    z.strictObject({ ...name, ...owners, type: z.literal('file'), sha256: sha256Hex, size }),
    z.strictObject({
      ...name,
      ...owners,
      type: z.literal('link'),
      target: text.max(8192).optional(),
      target_base64: text.max(8192).optional(),
    }),
    z.strictObject({ ...name, ...owners, type: z.enum(['fifo', 'socket']) }),
    z.strictObject({ ...name, ...owners, type: z.literal('device'), device: z.string().max(64) }),
    z.strictObject({
      ...name,
      type: z.enum(['unreadable', 'unstable', 'other']),
      why,
      size: size.optional(),
      mode: owners.mode.optional(),
      uid: owners.uid.optional(),
      gid: owners.gid.optional(),
    }),
  ])
  .refine(
    (line) => (line.path === undefined) !== (line.path_base64 === undefined),
    'requires either path or path_base64',
  )
  .refine(
    (line) => line.type !== 'link' || (line.target === undefined) !== (line.target_base64 === undefined),
    'requires either target or target_base64',
  );

export const lines = z.array(lineSchema).max(LINES_IN_A_PART);
export const part = z.int().min(1).max(MOST_PARTS);

export const scanReportSchema = z.strictObject({
  format: z.literal('evidence-endpoint-report/1'),
  scan_id: z.uuid(),
  endpoint_id: text.max(100),
  sequence: z.int().min(1),
  previous_report_sha256: sha256Hex.nullable(),
  nonce: z.string().max(100),
  boot_id: text.max(100),
  started_at: time,
  finished_at: time,
  roots: z.array(pathText).max(100),
  complete: z.boolean(),
  line_count: z
    .int()
    .min(0)
    .max(LINES_IN_A_PART * MOST_PARTS),
  root_hash: sha256Hex,
  parts: part,
  part,
  /** Sensor's clock when it sent this; a report that waited for the service is older. Not signed. */
  sent_at: time.optional(),
  lines,
  /** Base64 of the Ed25519 signature over the RFC 8785 text of all members above `part`. */
  signature: z.string().max(200),
});
export type WireReport = z.output<typeof scanReportSchema>;

/** Answer to a part while others are missing. */
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
  received_at: z.string(),
  started_at: z.string(),
  finished_at: z.string(),
  boot_id: z.string(),
  roots: z.array(z.string()),
  complete: z.boolean(),
  line_count: count,
  root_hash: z.string(),
  baseline_id: z.string().nullable(),
  events: z.object({ open: count, raised: count, resolved: count }),
  /** Entry of the report; null if the report was accepted by a version that did not store it. */
  entry: entryPlaceSchema.nullable(),
});
export type WireScan = z.infer<typeof scanSchema>;
export const scanQuerySchema = pageQuerySchema.extend({ endpoint_id: text.optional(), ...recordedIn });
export type ScanQuery = z.infer<typeof scanQuerySchema>;

const endpointFindingSchema = z.object({
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
  checked_at: z.string(),
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
  /** Unresolved events that are neither acknowledged nor quieted. */
  open_events: z.object({ low: count, medium: count, high: count, critical: count }),
  open_since: z.string().nullable(),
  reports_24h: count,
  last_report_at: z.string().nullable(),
});
export type EndpointStats = z.infer<typeof endpointStatsSchema>;
