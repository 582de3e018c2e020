import { sha256 } from '../../core/digest.ts';
import { canonicalize } from '../../core/json/canonical.ts';

export const REPORT_FORMAT = 'evidence-endpoint-report/1';

/** Signed head of a report; `root_hash` covers its lines. Times are by the sensor's clock, in RFC 3339 UTC. */
// Over ten members: it is what is signed.
export type ReportHead = {
  format: typeof REPORT_FORMAT;
  scan_id: string;
  endpoint_id: string;
  /** Number of the report; 1 for the endpoint's first. */
  sequence: number;
  /** Digest of the previous report; null for the first. */
  previous_report_sha256: string | null;
  /** Nonce that the service issued for this sequence. */
  nonce: string;
  boot_id: string;
  started_at: string;
  finished_at: string;
  /** Requested folders and files. */
  roots: string[];
  /** True if every folder under the roots could be listed, so that a missing line means a missing file. */
  complete: boolean;
  line_count: number;
  root_hash: string;
  /** Number of parts that the lines make, even if they are not sent. */
  parts: number;
};

/** Names of a head's members. */
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

/** Returns the head in the body of a report. */
export function reportHeadOf(body: ReportHead & { [name: string]: unknown }): ReportHead {
  return Object.fromEntries(Object.keys(MEMBERS).map((name) => [name, body[name]])) as ReportHead;
}

/** Returns the text that is signed and hashed: RFC 8785. */
export function canonicalHead(head: ReportHead): string {
  return canonicalize(head);
}

/** Returns the digest that identifies a report, in lowercase hex. */
export function reportSha256(head: ReportHead): string {
  return sha256(canonicalHead(head));
}
