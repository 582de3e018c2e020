import type { AlertState } from '../alerts/words.ts';
import {
  bytes,
  digest,
  flag,
  integer,
  oneOf,
  optional,
  ordinal,
  type TablesOf,
  table,
  text,
} from '../database/table.ts';
import type { BaitStatus, BaselineStatus, EventSeverity, EventStatus, EventType } from './words.ts';

export const ENDPOINT_TABLES = {
  endpoints: table(
    {
      endpoint_no: ordinal(),
      endpoint_id: text('UNIQUE'),
      name: text(),
      /** JSON of paths. */
      roots: text(),
      /** JSON of paths: other file systems that are walked, too. */
      other_filesystems: text(),
      scan_interval_seconds: integer(),
      enrolled_at: text(),
      /** Of its chain of reports: from 1 on, one more for each time that somebody let it begin anew. */
      chain: integer(),
      /** Base64; null until the agent has bound one to the chain. */
      public_key: optional(text()),
      /** Of the last report of the chain; 0 where there is none. */
      sequence: integer(),
      report_sha256: optional(digest()),
      /** That the next report has to have. */
      nonce: text(),
      /** Since when reports come that go back behind the last one; null where none did. */
      went_back_at: optional(text()),
      /** Of the last report of any chain; null where there is none. */
      last_scan_no: optional(integer()),
      received_at: optional(text()),
      /** When it is stale unless it reports; null once it is. */
      due_at: optional(text()),
      stale_at: optional(text()),
      /** The active one. */
      baseline_no: optional(integer()),
      isolated_at: optional(text()),
      isolated_by: optional(text()),
      isolated_reason: optional(text()),
      retired_at: optional(text()),
      retired_by: optional(text()),
      retired_reason: optional(text()),
    },
    { indexes: { endpoints_due: '(due_at) WHERE due_at IS NOT NULL', endpoints_by_baseline: '(baseline_no)' } },
  ),
  /** The key of each chain of reports. */
  endpoint_keys: table(
    {
      endpoint_no: integer('REFERENCES endpoints'),
      chain: integer(),
      public_key: text(),
      bound_at: text(),
    },
    { constraints: ['PRIMARY KEY (endpoint_no, chain)'] },
  ),
  /** All lines of a scan or a baseline; those alike are one. */
  line_sets: table({
    set_no: ordinal(),
    root_hash: digest('UNIQUE'),
    line_count: integer(),
  }),
  /** Some lines, which many sets may have in common. */
  line_chunks: table({
    chunk_no: ordinal(),
    sha256: digest('UNIQUE'),
    /** Bytes of the paths of its first and its last line. */
    first_path: bytes(),
    last_path: bytes(),
    /** Their RFC 8785 texts, each with a line feed behind it, compressed with zstd. */
    lines: bytes(),
  }),
  line_set_chunks: table(
    {
      set_no: integer('REFERENCES line_sets'),
      number: integer(),
      chunk_no: integer('REFERENCES line_chunks'),
    },
    { constraints: ['PRIMARY KEY (set_no, number)'], indexes: { line_set_chunks_by_chunk: '(chunk_no)' } },
  ),
  /** Lines that arrived of a scan or a baseline that is not whole yet. */
  staged_sets: table(
    {
      endpoint_no: integer('REFERENCES endpoints'),
      kind: oneOf(['scan', 'baseline']),
      /** Hex SHA-256 of what all its parts have in common. */
      head_sha256: digest(),
      begun_at: text(),
      /** That was taken last. */
      part: integer(),
      /** Hex SHA-256 of its lines. */
      part_sha256: digest(),
    },
    { constraints: ['PRIMARY KEY (endpoint_no, kind)'] },
  ),
  staged_parts: table(
    {
      endpoint_no: integer('REFERENCES endpoints'),
      kind: text<'scan' | 'baseline'>(),
      part: integer(),
      /** As of a chunk. */
      lines: bytes(),
    },
    { constraints: ['PRIMARY KEY (endpoint_no, kind, part)'] },
  ),
  /** Reports that were accepted. */
  endpoint_scans: table(
    {
      scan_no: ordinal(),
      scan_id: text(),
      endpoint_no: integer('REFERENCES endpoints'),
      chain: integer(),
      sequence: integer(),
      report_sha256: digest(),
      /** RFC 8785: what the digest and the signature are over. */
      head: text(),
      signature: text(),
      received_at: text(),
      set_no: integer('REFERENCES line_sets'),
      complete: flag(),
      /** It was compared to this one; null where there was none. */
      baseline_no: optional(integer()),
      events_open: integer(),
      events_raised: integer(),
      events_resolved: integer(),
      /** Of the entry of the report; null where it was accepted before that was kept. */
      entry_sequence: optional(integer()),
      entry_hash: optional(text()),
    },
    {
      constraints: ['UNIQUE (endpoint_no, chain, sequence)'],
      indexes: {
        endpoint_scans_by_time: '(endpoint_no, received_at)',
        endpoint_scans_by_digest: '(endpoint_no, report_sha256)',
      },
    },
  ),
  baselines: table(
    {
      baseline_no: ordinal(),
      baseline_id: text('UNIQUE'),
      endpoint_no: integer('REFERENCES endpoints'),
      /** Of its endpoint, from 1 on. */
      version: integer(),
      name: text(),
      status: oneOf<BaselineStatus>(['proposed', 'active', 'superseded', 'rejected']),
      origin: oneOf(['registered', 'scan']),
      /** The scan that proposes it. */
      scan_no: optional(integer()),
      set_no: integer('REFERENCES line_sets'),
      /** JSON of paths. */
      roots: text(),
      complete: flag(),
      reason: optional(text()),
      made_at: text(),
      made_by: text(),
      decided_at: optional(text()),
      decided_by: optional(text()),
      decided_reason: optional(text()),
    },
    { constraints: ['UNIQUE (endpoint_no, version)'] },
  ),
  /** The same change at one path, on however many endpoints. */
  endpoint_changes: table({
    change_no: ordinal(),
    change_id: text('UNIQUE'),
    /** Hex SHA-256 over path, expected and observed. */
    change_key: digest('UNIQUE'),
    first_seen: text(),
    approved_at: optional(text()),
    approved_by: optional(text()),
    approved_reason: optional(text()),
  }),
  change_windows: table(
    {
      window_no: ordinal(),
      window_id: text('UNIQUE'),
      /** 1 where it is for all endpoints. */
      is_for_all: flag(),
      from_at: text(),
      until_at: text(),
      reason: text(),
      made_at: text(),
      made_by: text(),
      approved_at: optional(text()),
      approved_by: optional(text()),
      approved_reason: optional(text()),
    },
    { indexes: { change_windows_by_end: '(until_at)' } },
  ),
  change_window_endpoints: table(
    {
      window_no: integer('REFERENCES change_windows'),
      endpoint_no: integer('REFERENCES endpoints'),
    },
    { constraints: ['PRIMARY KEY (window_no, endpoint_no)'] },
  ),
  endpoint_events: table(
    {
      event_no: ordinal(),
      event_id: text('UNIQUE'),
      endpoint_no: integer('REFERENCES endpoints'),
      /** Null for what is of no path. */
      change_no: optional(integer()),
      scan_no: optional(integer()),
      baseline_no: optional(integer()),
      event_type: text<EventType>(),
      severity: text<EventSeverity>(),
      /** How bad it is without its explanation. */
      plain_severity: text<EventSeverity>(),
      path: optional(text()),
      path_base64: optional(text()),
      expected_sha256: optional(digest()),
      observed_sha256: optional(digest()),
      /** JSON: a line, or what was expected of a report. */
      expected: optional(text()),
      observed: optional(text()),
      /** JSON. */
      explanation: text(),
      status: oneOf<EventStatus>(['open', 'acknowledged', 'quieted', 'resolved']),
      occurrences: integer(),
      first_seen: text(),
      last_seen: text(),
      resolved_at: optional(text()),
      acknowledged_by: optional(text()),
      acknowledged_at: optional(text()),
      /** The change window in which it was raised. */
      window_no: optional(integer()),
      alert_state: text<AlertState>(),
      /** The event by which people were told of it; null where they were not. */
      told_by: optional(text()),
      /** Of the entry that says that it was raised. */
      entry_sequence: integer(),
      entry_hash: text(),
    },
    {
      indexes: {
        endpoint_events_unresolved: '(endpoint_no) WHERE resolved_at IS NULL',
        endpoint_events_by_endpoint: '(endpoint_no, event_no)',
        endpoint_events_by_status: '(status, severity, event_no)',
        endpoint_events_by_change: '(change_no, event_no)',
        endpoint_events_by_window: '(window_no, event_no)',
        endpoint_events_told: '(told_by) WHERE told_by IS NOT NULL',
      },
    },
  ),
  /** One row: grows with each change of any event. */
  endpoint_event_versions: table(
    {
      id: integer('PRIMARY KEY'),
      version: integer(),
    },
    { firstRows: ['(1, 0)'] },
  ),
  endpoint_bait: table(
    {
      bait_no: ordinal(),
      bait_id: text('UNIQUE'),
      endpoint_no: integer('REFERENCES endpoints'),
      /** The trap. */
      credential_id: text(),
      credential_type: text(),
      label: text(),
      path: text(),
      /** Four octal digits. */
      mode: text(),
      /** Of its folder where they are null. */
      uid: optional(integer()),
      gid: optional(integer()),
      status: text<BaitStatus>(),
      /** Sealed; null once the agent has it. */
      content: optional(bytes()),
      /** JSON of `READ_SIGNS`. */
      seen_by: text(),
      /** Why it stands as it does, where that is no matter of course. */
      reason: optional(text()),
      asked_at: text(),
      planted_at: optional(text()),
      ended_at: optional(text()),
    },
    {
      indexes: { endpoint_bait_by_endpoint: '(endpoint_no, bait_no)' },
      uniqueIndexes: { endpoint_bait_places: '(endpoint_no, path) WHERE ended_at IS NULL' },
    },
  ),
  /** What Verify of an endpoint's reports said. */
  endpoint_checks: table(
    {
      check_no: ordinal(),
      endpoint_no: integer('REFERENCES endpoints'),
      checked_at: text(),
      /** How many were checked, and how much was found. */
      reports: integer(),
      findings: integer(),
    },
    { indexes: { endpoint_checks_by_endpoint: '(endpoint_no, check_no)' } },
  ),
};

export type EndpointTables = TablesOf<typeof ENDPOINT_TABLES>;
