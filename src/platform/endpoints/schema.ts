// Over 250 lines: they are the tables of one service.

import type { Generated } from 'kysely';
import type { AlertState } from '../alerts/words.ts';
import type { BaitStatus, BaselineStatus, EventSeverity, EventStatus, EventType } from './words.ts';

// Over ten members: they are columns.
export interface EndpointTable {
  endpoint_no: Generated<number>;
  endpoint_id: string;
  name: string;
  /** JSON of paths. */
  roots: string;
  /** JSON of paths: other file systems that are walked, too. */
  other_filesystems: string;
  scan_interval_seconds: number;
  enrolled_at: string;
  /** Of its chain of reports: from 1 on, one more for each time that somebody let it begin anew. */
  chain: number;
  /** Base64; null until the agent has bound one to the chain. */
  public_key: string | null;
  /** Of the last report of the chain; 0 where there is none. */
  sequence: number;
  report_sha256: string | null;
  /** That the next report has to have. */
  nonce: string;
  /** Since when reports come that go back behind the last one; null where none did. */
  went_back_at: string | null;
  /** Of the last report of any chain; null where there is none. */
  last_scan_no: number | null;
  received_at: string | null;
  /** When it is stale unless it reports; null once it is. */
  due_at: string | null;
  stale_at: string | null;
  /** The active one. */
  baseline_no: number | null;
  isolated_at: string | null;
  isolated_by: string | null;
  isolated_reason: string | null;
  retired_at: string | null;
  retired_by: string | null;
  retired_reason: string | null;
}

/** What Verify of an endpoint's reports said. */
export interface EndpointCheckTable {
  check_no: Generated<number>;
  endpoint_no: number;
  checked_at: string;
  /** How many were checked, and how much was found. */
  reports: number;
  findings: number;
}

/** The key of each chain of reports. */
export interface EndpointKeyTable {
  endpoint_no: number;
  chain: number;
  public_key: string;
  bound_at: string;
}

/** Reports that were accepted. */
// Over ten members: they are columns.
export interface EndpointScanTable {
  scan_no: Generated<number>;
  scan_id: string;
  endpoint_no: number;
  chain: number;
  sequence: number;
  report_sha256: string;
  /** RFC 8785: what the digest and the signature are over. */
  head: string;
  signature: string;
  received_at: string;
  set_no: number;
  complete: number;
  /** It was compared to this one; null where there was none. */
  baseline_no: number | null;
  events_open: number;
  events_raised: number;
  events_resolved: number;
  /** Of the entry of the report; null where it was accepted before that was kept. */
  entry_sequence: number | null;
  entry_hash: string | null;
}

/** All lines of a scan or a baseline; those alike are one. */
export interface LineSetTable {
  set_no: Generated<number>;
  root_hash: string;
  line_count: number;
}

/** Some lines, which many sets may have in common. */
export interface LineChunkTable {
  chunk_no: Generated<number>;
  sha256: string;
  /** Bytes of the paths of its first and its last line. */
  first_path: Uint8Array;
  last_path: Uint8Array;
  /** Their RFC 8785 texts, each with a line feed behind it, compressed with zstd. */
  lines: Uint8Array;
}

/** Lines that arrived of a scan or a baseline that is not whole yet. */
export interface StagedSetTable {
  endpoint_no: number;
  kind: 'scan' | 'baseline';
  /** Hex SHA-256 of what all its parts have in common. */
  head_sha256: string;
  begun_at: string;
  /** That was taken last. */
  part: number;
  /** Hex SHA-256 of its lines. */
  part_sha256: string;
}

export interface StagedPartTable {
  endpoint_no: number;
  kind: 'scan' | 'baseline';
  part: number;
  /** As of a chunk. */
  lines: Uint8Array;
}

// Over ten members: they are columns.
export interface BaselineTable {
  baseline_no: Generated<number>;
  baseline_id: string;
  endpoint_no: number;
  /** Of its endpoint, from 1 on. */
  version: number;
  name: string;
  status: BaselineStatus;
  origin: 'registered' | 'scan';
  /** The scan that proposes it. */
  scan_no: number | null;
  set_no: number;
  /** JSON of paths. */
  roots: string;
  complete: number;
  reason: string | null;
  made_at: string;
  made_by: string;
  decided_at: string | null;
  decided_by: string | null;
  decided_reason: string | null;
}

/** The same change at one path, on however many endpoints. */
export interface EndpointChangeTable {
  change_no: Generated<number>;
  change_id: string;
  /** Hex SHA-256 over path, expected and observed. */
  change_key: string;
  first_seen: string;
  approved_at: string | null;
  approved_by: string | null;
  approved_reason: string | null;
}

// Over ten members: they are columns.
export interface EndpointEventTable {
  event_no: Generated<number>;
  event_id: string;
  endpoint_no: number;
  /** Null for what is of no path. */
  change_no: number | null;
  scan_no: number | null;
  baseline_no: number | null;
  event_type: EventType;
  severity: EventSeverity;
  /** How bad it is without its explanation. */
  plain_severity: EventSeverity;
  path: string | null;
  path_base64: string | null;
  expected_sha256: string | null;
  observed_sha256: string | null;
  /** JSON: a line, or what was expected of a report. */
  expected: string | null;
  observed: string | null;
  /** JSON. */
  explanation: string;
  status: EventStatus;
  occurrences: number;
  first_seen: string;
  last_seen: string;
  resolved_at: string | null;
  acknowledged_by: string | null;
  acknowledged_at: string | null;
  /** The change window in which it was raised. */
  window_no: number | null;
  alert_state: AlertState;
  /** The event by which people were told of it; null where they were not. */
  told_by: string | null;
  /** Of the entry that says that it was raised. */
  entry_sequence: number;
  entry_hash: string;
}

// Over ten members: they are columns.
export interface ChangeWindowTable {
  window_no: Generated<number>;
  window_id: string;
  /** 1 where it is for all endpoints. */
  is_for_all: number;
  from_at: string;
  until_at: string;
  reason: string;
  made_at: string;
  made_by: string;
  approved_at: string | null;
  approved_by: string | null;
  approved_reason: string | null;
}

// Over ten members: they are columns.
export interface EndpointBaitTable {
  bait_no: Generated<number>;
  bait_id: string;
  endpoint_no: number;
  /** The trap. */
  credential_id: string;
  credential_type: string;
  label: string;
  path: string;
  /** Four octal digits. */
  mode: string;
  /** Of its folder where they are null. */
  uid: number | null;
  gid: number | null;
  status: BaitStatus;
  /** Sealed; null once the agent has it. */
  content: Uint8Array | null;
  /** JSON of `READ_SIGNS`. */
  seen_by: string;
  /** Why it stands as it does, where that is no matter of course. */
  reason: string | null;
  asked_at: string;
  planted_at: string | null;
  ended_at: string | null;
}

// Over ten members: they are tables.
export interface EndpointTables {
  endpoints: EndpointTable;
  endpoint_keys: EndpointKeyTable;
  endpoint_scans: EndpointScanTable;
  endpoint_checks: EndpointCheckTable;
  line_sets: LineSetTable;
  line_chunks: LineChunkTable;
  line_set_chunks: { set_no: number; number: number; chunk_no: number };
  staged_sets: StagedSetTable;
  staged_parts: StagedPartTable;
  baselines: BaselineTable;
  endpoint_changes: EndpointChangeTable;
  endpoint_events: EndpointEventTable;
  change_windows: ChangeWindowTable;
  change_window_endpoints: { window_no: number; endpoint_no: number };
  endpoint_bait: EndpointBaitTable;
  /** One row: grows with each change of any event. */
  endpoint_event_versions: { id: number; version: number };
}
