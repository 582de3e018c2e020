import type { AlertState } from '../alert-enums.ts';
import { column, type TablesOf, table } from '../database/table.ts';
import type { BaitStatus, BaselineStatus, EventSeverity, EventStatus, EventType } from './enums.ts';

export const ENDPOINT_TABLES = {
  endpoints: table(
    {
      endpoint_no: column.ordinal(),
      endpoint_id: column.text('UNIQUE'),
      name: column.text(),
      /** JSON of paths. */
      roots: column.text(),
      /** JSON of paths: other file systems that are walked, too. */
      other_filesystems: column.text(),
      scan_interval_seconds: column.integer(),
      enrolled_at: column.text(),
      /** The number of its chain of reports: from 1 on, one more for each time that somebody let it begin anew. */
      chain: column.integer(),
      /** Base64; null until the sensor has bound one to the chain. */
      public_key: column.optional(column.text()),
      /** The last report of the chain; 0 where there is none. */
      sequence: column.integer(),
      report_sha256: column.optional(column.digest()),
      /** The nonce that the next report has to have. */
      nonce: column.text(),
      /** The time since which reports repeat earlier numbers of the chain; null if none did. */
      went_back_at: column.optional(column.text()),
      /** The last report of any chain; null where there is none. */
      last_scan_no: column.optional(column.integer()),
      received_at: column.optional(column.text()),
      /** When it is stale unless it reports; null once it is. */
      due_at: column.optional(column.text()),
      stale_at: column.optional(column.text()),
      /** The active one. */
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
  /** The key of each chain of reports. */
  endpoint_keys: table(
    {
      endpoint_no: column.integer('REFERENCES endpoints'),
      chain: column.integer(),
      public_key: column.text(),
      bound_at: column.text(),
    },
    { constraints: ['PRIMARY KEY (endpoint_no, chain)'] },
  ),
  /** All lines of a scan or a baseline; those alike are one. */
  line_sets: table({ set_no: column.ordinal(), root_hash: column.digest('UNIQUE'), line_count: column.integer() }),
  /** Some lines, which many sets may have in common. */
  line_chunks: table({
    chunk_no: column.ordinal(),
    sha256: column.digest('UNIQUE'),
    /** Bytes of the paths of its first and its last line. */
    first_path: column.bytes(),
    last_path: column.bytes(),
    /** Their RFC 8785 texts, each with a line feed after it, compressed with zstd. */
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
  /** Lines that arrived of a scan or a baseline that is not whole yet. */
  staged_sets: table(
    {
      endpoint_no: column.integer('REFERENCES endpoints'),
      kind: column.oneOf(['scan', 'baseline']),
      /** Hex SHA-256 of what all its parts have in common. */
      head_sha256: column.digest(),
      begun_at: column.text(),
      /** The part that was taken last. */
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
      /** As of a chunk. */
      lines: column.bytes(),
    },
    { constraints: ['PRIMARY KEY (endpoint_no, kind, part)'] },
  ),
  /** Reports that were accepted. */
  endpoint_scans: table(
    {
      scan_no: column.ordinal(),
      scan_id: column.text(),
      endpoint_no: column.integer('REFERENCES endpoints'),
      chain: column.integer(),
      sequence: column.integer(),
      report_sha256: column.digest(),
      /** RFC 8785: what the digest and the signature are over. */
      head: column.text(),
      signature: column.text(),
      received_at: column.text(),
      set_no: column.integer('REFERENCES line_sets'),
      complete: column.flag(),
      /** It was compared to this one; null where there was none. */
      baseline_no: column.optional(column.integer()),
      events_open: column.integer(),
      events_raised: column.integer(),
      events_resolved: column.integer(),
      /** The entry of the report; null where it was accepted before that was kept. */
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
      /** Its number among those of its endpoint, from 1 on. */
      version: column.integer(),
      name: column.text(),
      status: column.oneOf<BaselineStatus>(['proposed', 'active', 'superseded', 'rejected']),
      origin: column.oneOf(['registered', 'scan']),
      /** The scan that proposes it. */
      scan_no: column.optional(column.integer()),
      set_no: column.integer('REFERENCES line_sets'),
      /** JSON of paths. */
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
  /** The same change at one path, on however many endpoints. */
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
      /** 1 where it is for all endpoints. */
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
      /** Null for what is of no path. */
      change_no: column.optional(column.integer()),
      scan_no: column.optional(column.integer()),
      baseline_no: column.optional(column.integer()),
      event_type: column.text<EventType>(),
      severity: column.text<EventSeverity>(),
      /** Its severity without its explanation. */
      plain_severity: column.text<EventSeverity>(),
      path: column.optional(column.text()),
      path_base64: column.optional(column.text()),
      expected_sha256: column.optional(column.digest()),
      observed_sha256: column.optional(column.digest()),
      /** JSON: a line, or what was expected of a report. */
      expected: column.optional(column.text()),
      observed: column.optional(column.text()),
      /** JSON. */
      explanation: column.text(),
      status: column.oneOf<EventStatus>(['open', 'acknowledged', 'quieted', 'resolved']),
      occurrences: column.integer(),
      first_seen: column.text(),
      last_seen: column.text(),
      resolved_at: column.optional(column.text()),
      acknowledged_by: column.optional(column.text()),
      acknowledged_at: column.optional(column.text()),
      /** The change window in which it was raised. */
      window_no: column.optional(column.integer()),
      alert_state: column.text<AlertState>(),
      /** The event that names its alert; null if there was none. */
      alerted_by: column.optional(column.text()),
      /** The entry that says that it was raised. */
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
  /** One row: grows with each change of any event. */
  endpoint_event_versions: table(
    { id: column.integer('PRIMARY KEY'), version: column.integer() },
    { firstRows: ['(1, 0)'] },
  ),
  endpoint_bait: table(
    {
      bait_no: column.ordinal(),
      bait_id: column.text('UNIQUE'),
      endpoint_no: column.integer('REFERENCES endpoints'),
      /** The trap. */
      credential_id: column.text(),
      credential_type: column.text(),
      label: column.text(),
      path: column.text(),
      /** Four octal digits. */
      mode: column.text(),
      /** Those of its folder where they are null. */
      uid: column.optional(column.integer()),
      gid: column.optional(column.integer()),
      status: column.text<BaitStatus>(),
      /** Sealed; null once the sensor has it. */
      content: column.optional(column.bytes()),
      /** JSON of `READ_SIGNS`. */
      seen_by: column.text(),
      /** The reason of its status, unless that is a matter of course. */
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
  /** Results of Verify for the reports of endpoints. */
  endpoint_checks: table(
    {
      check_no: column.ordinal(),
      endpoint_no: column.integer('REFERENCES endpoints'),
      checked_at: column.text(),
      /** The reports that were checked, and the faults that were found. */
      reports: column.integer(),
      findings: column.integer(),
    },
    { indexes: { endpoint_checks_by_endpoint: '(endpoint_no, check_no)' } },
  ),
};

export type EndpointTables = TablesOf<typeof ENDPOINT_TABLES>;
