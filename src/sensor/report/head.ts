import { sha256 } from '../../core/digest.ts';
import { canonicalize } from '../../core/json/canonical.ts';

export const REPORT_FORMAT = 'evidence-endpoint-report/1';

/** The signed head of a report; `root_hash` covers its lines. Times are of the sensor's clock: UTC, RFC 3339. */
// Over ten members: it is what is signed.
export type ReportHead = {
  format: typeof REPORT_FORMAT;
  scan_id: string;
  endpoint_id: string;
  /** 1 for the first report of an endpoint. */
  sequence: number;
  /** The digest of the previous report; null for the first. */
  previous_report_sha256: string | null;
  /** As the service gave it out for this sequence. */
  nonce: string;
  boot_id: string;
  started_at: string;
  finished_at: string;
  /** The folders and files that were asked for. */
  roots: string[];
  /** True if each folder under the roots could be listed, so that a missing line means a missing file. */
  complete: boolean;
  line_count: number;
  root_hash: string;
  /** As many as the lines make, whether they are sent or not. */
  parts: number;
};

/** The names of a head's members. */
const MEMBERS: { [Name in keyof ReportHead]: true } = {
  format: true,
  scan_id: true,
  endpoint_id: true,
  sequence: true,
  previous_report_sha256: true,
  nonce: true,
  boot_id: true,
  started_at: true,
  finished_at: true,
  roots: true,
  complete: true,
  line_count: true,
  root_hash: true,
  parts: true,
};

/** The head within the body of a report. */
export function reportHeadOf(body: ReportHead & { [name: string]: unknown }): ReportHead {
  return Object.fromEntries(Object.keys(MEMBERS).map((name) => [name, body[name]])) as ReportHead;
}

/** The text that is signed and hashed: RFC 8785. */
export function canonicalHead(head: ReportHead): string {
  return canonicalize(head);
}

/** Names a report: lower-case hex. */
export function reportSha256(head: ReportHead): string {
  return sha256(canonicalHead(head));
}
