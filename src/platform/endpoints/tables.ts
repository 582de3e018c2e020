import type { AlertState } from '../alert-enums.ts';
import { column, type TablesOf, table } from '../database/table.ts';
import type { BaitStatus, BaselineStatus, EventSeverity, EventStatus, EventType } from './enums.ts';

export const ENDPOINT_TABLES = {
  endpoints: table(
    {
      endpoint_no: column.ordinal(),
      endpoint_id: column.text('UNIQUE'),
      name: column.text(),
      /** JSON of the scanned paths. */
      roots: column.text(),
      /** JSON of the paths of other file systems that are scanned, too. */
      other_filesystems: column.text(),
      scan_interval_seconds: column.integer(),
      enrolled_at: column.text(),
      /** Number of its chain of reports, from 1; each restart adds one. */
      chain: column.integer(),
      /** Base64 of the public key; null until the sensor has bound a key to the chain. */
      public_key: column.optional(column.text()),
      /** Sequence number of the last report of the chain; 0 if there is none. */
      sequence: column.integer(),
      report_sha256: column.optional(column.digest()),
      /** Nonce that the next report must contain. */
      nonce: column.text(),
      /** Time since which reports repeat earlier numbers of the chain; null if none did. */
      went_back_at: column.optional(column.text()),
      /** Last report of any chain; null if there is none. */
      last_scan_no: column.optional(column.integer()),
      received_at: column.optional(column.text()),
      /** Time at which the endpoint becomes stale unless it reports; null while it is stale. */
      due_at: column.optional(column.text()),
      stale_at: column.optional(column.text()),
      /** Active baseline. */
      baseline_no: column.optional(column.integer()),
      isolated_at: column.optional(column.text()),
      isolated_by: column.optional(column.text()),
      isolated_reason: column.optional(column.text()),
      retired_at: column.optional(column.text()),
      retired_by: column.optional(column.text()),
      retired_reason: column.optional(column.text()),
    },
    { indexes: { endpoints_due: '(due_at) WHERE due_at IS NOT NULL', endpoints_by_baseline: '(baseline_no)' } },
  ),
  /** Key of each chain of reports. */
  endpoint_keys: table(
    {
      endpoint_no: column.integer('REFERENCES endpoints'),
      chain: column.integer(),
      public_key: column.text(),
      bound_at: column.text(),
    },
    { constraints: ['PRIMARY KEY (endpoint_no, chain)'] },
  ),
  /** Sets of all lines of a scan or a baseline; equal sets are stored once. */
  line_sets: table({ set_no: column.ordinal(), root_hash: column.digest('UNIQUE'), line_count: column.integer() }),
  /** Parts of sets, which sets may share. */
  line_chunks: table({
    chunk_no: column.ordinal(),
    sha256: column.digest('UNIQUE'),
    /** Bytes of the paths of the first and the last line. */
    first_path: column.bytes(),
    last_path: column.bytes(),
    /** RFC 8785 texts of the lines, each followed by a line feed, compressed with zstd. */
    lines: column.bytes(),
  }),
  line_set_chunks: table(
    {
      set_no: column.integer('REFERENCES line_sets'),
      number: column.integer(),
      chunk_no: column.integer('REFERENCES line_chunks'),
    },
    { constraints: ['PRIMARY KEY (set_no, number)'], indexes: { line_set_chunks_by_chunk: '(chunk_no)' } },
  ),
  /** Incomplete scans and baselines, of which some lines have arrived. */
  staged_sets: table(
    {
      endpoint_no: column.integer('REFERENCES endpoints'),
      kind: column.oneOf(['scan', 'baseline']),
      /** Hex SHA-256 of the data that all parts share. */
      head_sha256: column.digest(),
      begun_at: column.text(),
      /** Number of the last received part. */
      part: column.integer(),
      /** Hex SHA-256 of its lines. */
      part_sha256: column.digest(),
    },
    { constraints: ['PRIMARY KEY (endpoint_no, kind)'] },
  ),
  staged_parts: table(
    {
      endpoint_no: column.integer('REFERENCES endpoints'),
      kind: column.text<'scan' | 'baseline'>(),
      part: column.integer(),
      /** Lines, in the form of a chunk. */
      lines: column.bytes(),
    },
    { constraints: ['PRIMARY KEY (endpoint_no, kind, part)'] },
  ),
  /** Accepted reports. */
  endpoint_scans: table(
    {
      scan_no: column.ordinal(),
      scan_id: column.text(),
      endpoint_no: column.integer('REFERENCES endpoints'),
      chain: column.integer(),
      sequence: column.integer(),
      report_sha256: column.digest(),
      /** RFC 8785 text that the digest and the signature cover. */
      head: column.text(),
      signature: column.text(),
      received_at: column.text(),
      set_no: column.integer('REFERENCES line_sets'),
      complete: column.flag(),
      /** Baseline that the scan was compared with; null if there was none. */
      baseline_no: column.optional(column.integer()),
      events_open: column.integer(),
      events_raised: column.integer(),
      events_resolved: column.integer(),
      /** Entry of the report; null if the report was accepted by a version that did not store it. */
      entry_sequence: column.optional(column.integer()),
      entry_hash: column.optional(column.text()),
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
      baseline_no: column.ordinal(),
      baseline_id: column.text('UNIQUE'),
      endpoint_no: column.integer('REFERENCES endpoints'),
      /** Number among the baselines of the endpoint, from 1. */
      version: column.integer(),
      name: column.text(),
      status: column.oneOf<BaselineStatus>(['proposed', 'active', 'superseded', 'rejected']),
      origin: column.oneOf(['registered', 'scan']),
      /** Scan that is proposed as the baseline. */
      scan_no: column.optional(column.integer()),
      set_no: column.integer('REFERENCES line_sets'),
      /** JSON of the scanned paths. */
      roots: column.text(),
      complete: column.flag(),
      reason: column.optional(column.text()),
      made_at: column.text(),
      made_by: column.text(),
      decided_at: column.optional(column.text()),
      decided_by: column.optional(column.text()),
      decided_reason: column.optional(column.text()),
    },
    { constraints: ['UNIQUE (endpoint_no, version)'] },
  ),
  /** Equal changes at one path, on any number of endpoints. */
  endpoint_changes: table({
    change_no: column.ordinal(),
    change_id: column.text('UNIQUE'),
    /** Hex SHA-256 over path, expected and observed. */
    change_key: column.digest('UNIQUE'),
    first_seen: column.text(),
    approved_at: column.optional(column.text()),
    approved_by: column.optional(column.text()),
    approved_reason: column.optional(column.text()),
  }),
  change_windows: table(
    {
      window_no: column.ordinal(),
      window_id: column.text('UNIQUE'),
      /** 1 if the window is for all endpoints. */
      is_for_all: column.flag(),
      from_at: column.text(),
      until_at: column.text(),
      reason: column.text(),
      made_at: column.text(),
      made_by: column.text(),
      approved_at: column.optional(column.text()),
      approved_by: column.optional(column.text()),
      approved_reason: column.optional(column.text()),
    },
    { indexes: { change_windows_by_end: '(until_at)' } },
  ),
  change_window_endpoints: table(
    { window_no: column.integer('REFERENCES change_windows'), endpoint_no: column.integer('REFERENCES endpoints') },
    { constraints: ['PRIMARY KEY (window_no, endpoint_no)'] },
  ),
  endpoint_events: table(
    {
      event_no: column.ordinal(),
      event_id: column.text('UNIQUE'),
      endpoint_no: column.integer('REFERENCES endpoints'),
      /** Change at a path; null for an event without a path. */
      change_no: column.optional(column.integer()),
      scan_no: column.optional(column.integer()),
      baseline_no: column.optional(column.integer()),
      event_type: column.text<EventType>(),
      severity: column.text<EventSeverity>(),
      /** Severity without the explanation. */
      plain_severity: column.text<EventSeverity>(),
      path: column.optional(column.text()),
      path_base64: column.optional(column.text()),
      expected_sha256: column.optional(column.digest()),
      observed_sha256: column.optional(column.digest()),
      /** JSON of a line, or of the values in a report. */
      expected: column.optional(column.text()),
      observed: column.optional(column.text()),
      /** JSON of the explanation. */
      explanation: column.text(),
      status: column.oneOf<EventStatus>(['open', 'acknowledged', 'quieted', 'resolved']),
      occurrences: column.integer(),
      first_seen: column.text(),
      last_seen: column.text(),
      resolved_at: column.optional(column.text()),
      acknowledged_by: column.optional(column.text()),
      acknowledged_at: column.optional(column.text()),
      /** Change window in which the event was raised. */
      window_no: column.optional(column.integer()),
      alert_state: column.text<AlertState>(),
      /** Event that represents the alert; null if there was no alert. */
      alerted_by: column.optional(column.text()),
      /** Entry that records the event. */
      entry_sequence: column.integer(),
      entry_hash: column.text(),
    },
    {
      indexes: {
        endpoint_events_unresolved: '(endpoint_no) WHERE resolved_at IS NULL',
        endpoint_events_by_endpoint: '(endpoint_no, event_no)',
        endpoint_events_by_status: '(status, severity, event_no)',
        endpoint_events_by_change: '(change_no, event_no)',
        endpoint_events_by_window: '(window_no, event_no)',
        endpoint_events_alerted: '(alerted_by) WHERE alerted_by IS NOT NULL',
      },
    },
  ),
  /** Version in one row, which grows with each change of any event. */
  endpoint_event_versions: table(
    { id: column.integer('PRIMARY KEY'), version: column.integer() },
    { firstRows: ['(1, 0)'] },
  ),
  endpoint_bait: table(
    {
      bait_no: column.ordinal(),
      bait_id: column.text('UNIQUE'),
      endpoint_no: column.integer('REFERENCES endpoints'),
      /** Trap of the bait. */
      credential_id: column.text(),
      credential_type: column.text(),
      label: column.text(),
      path: column.text(),
      /** Mode as four octal digits. */
      mode: column.text(),
      /** Owner and group; null for those of the folder. */
      uid: column.optional(column.integer()),
      gid: column.optional(column.integer()),
      status: column.text<BaitStatus>(),
      /** Sealed content; null once the sensor has planted it. */
      content: column.optional(column.bytes()),
      /** JSON array of `READ_SIGNS`. */
      seen_by: column.text(),
      /** Reason for the status, unless it is obvious. */
      reason: column.optional(column.text()),
      asked_at: column.text(),
      planted_at: column.optional(column.text()),
      ended_at: column.optional(column.text()),
    },
    {
      indexes: { endpoint_bait_by_endpoint: '(endpoint_no, bait_no)' },
      uniqueIndexes: { endpoint_bait_places: '(endpoint_no, path) WHERE ended_at IS NULL' },
    },
  ),
  /** Results of checks of endpoints' reports. */
  endpoint_checks: table(
    {
      check_no: column.ordinal(),
      endpoint_no: column.integer('REFERENCES endpoints'),
      checked_at: column.text(),
      /** Number of checked reports, and number of findings. */
      reports: column.integer(),
      findings: column.integer(),
    },
    { indexes: { endpoint_checks_by_endpoint: '(endpoint_no, check_no)' } },
  ),
};

export type EndpointTables = TablesOf<typeof ENDPOINT_TABLES>;
