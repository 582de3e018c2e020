import type { Migrations } from '../database/migration.ts';

export const ENDPOINT_MIGRATIONS: Migrations = {
  'endpoints/0001-hosts': ({ text, integer, ordinal, end, digest }) => [
    `CREATE TABLE endpoints (
      endpoint_no ${ordinal},
      endpoint_id ${text} NOT NULL UNIQUE,
      name ${text} NOT NULL,
      roots ${text} NOT NULL,
      other_filesystems ${text} NOT NULL,
      scan_interval_seconds ${integer} NOT NULL,
      enrolled_at ${text} NOT NULL,
      chain ${integer} NOT NULL,
      public_key ${text},
      sequence ${integer} NOT NULL,
      ${digest('report_sha256')},
      nonce ${text} NOT NULL,
      went_back_at ${text},
      last_scan_no ${integer},
      received_at ${text},
      due_at ${text},
      stale_at ${text},
      baseline_no ${integer},
      isolated_at ${text},
      isolated_by ${text},
      isolated_reason ${text}
    ) ${end}`,
    'CREATE INDEX endpoints_due ON endpoints (due_at) WHERE due_at IS NOT NULL',
    'CREATE INDEX endpoints_by_baseline ON endpoints (baseline_no)',
    `CREATE TABLE endpoint_keys (
      endpoint_no ${integer} NOT NULL REFERENCES endpoints,
      chain ${integer} NOT NULL,
      public_key ${text} NOT NULL,
      bound_at ${text} NOT NULL,
      PRIMARY KEY (endpoint_no, chain)
    ) ${end}`,
  ],
  'endpoints/0002-lines': ({ text, integer, bytes, ordinal, end, digest }) => [
    `CREATE TABLE line_sets (
      set_no ${ordinal},
      ${digest('root_hash')} NOT NULL UNIQUE,
      line_count ${integer} NOT NULL
    ) ${end}`,
    `CREATE TABLE line_chunks (
      chunk_no ${ordinal},
      ${digest('sha256')} NOT NULL UNIQUE,
      first_path ${bytes} NOT NULL,
      last_path ${bytes} NOT NULL,
      lines ${bytes} NOT NULL
    ) ${end}`,
    `CREATE TABLE line_set_chunks (
      set_no ${integer} NOT NULL REFERENCES line_sets,
      number ${integer} NOT NULL,
      chunk_no ${integer} NOT NULL REFERENCES line_chunks,
      PRIMARY KEY (set_no, number)
    ) ${end}`,
    'CREATE INDEX line_set_chunks_by_chunk ON line_set_chunks (chunk_no)',
    `CREATE TABLE staged_sets (
      endpoint_no ${integer} NOT NULL REFERENCES endpoints,
      kind ${text} NOT NULL CHECK (kind IN ('scan', 'baseline')),
      ${digest('head_sha256')} NOT NULL,
      begun_at ${text} NOT NULL,
      part ${integer} NOT NULL,
      ${digest('part_sha256')} NOT NULL,
      PRIMARY KEY (endpoint_no, kind)
    ) ${end}`,
    `CREATE TABLE staged_parts (
      endpoint_no ${integer} NOT NULL REFERENCES endpoints,
      kind ${text} NOT NULL,
      part ${integer} NOT NULL,
      lines ${bytes} NOT NULL,
      PRIMARY KEY (endpoint_no, kind, part)
    ) ${end}`,
  ],
  // Over 40 lines: it is the form of tables.
  'endpoints/0003-scans': ({ text, integer, ordinal, end, digest }) => [
    `CREATE TABLE endpoint_scans (
      scan_no ${ordinal},
      scan_id ${text} NOT NULL,
      endpoint_no ${integer} NOT NULL REFERENCES endpoints,
      chain ${integer} NOT NULL,
      sequence ${integer} NOT NULL,
      ${digest('report_sha256')} NOT NULL,
      head ${text} NOT NULL,
      signature ${text} NOT NULL,
      received_at ${text} NOT NULL,
      set_no ${integer} NOT NULL REFERENCES line_sets,
      complete ${integer} NOT NULL CHECK (complete IN (0, 1)),
      baseline_no ${integer},
      events_open ${integer} NOT NULL,
      events_raised ${integer} NOT NULL,
      events_resolved ${integer} NOT NULL,
      UNIQUE (endpoint_no, chain, sequence)
    ) ${end}`,
    'CREATE INDEX endpoint_scans_by_time ON endpoint_scans (endpoint_no, received_at)',
    'CREATE INDEX endpoint_scans_by_digest ON endpoint_scans (endpoint_no, report_sha256)',
    `CREATE TABLE baselines (
      baseline_no ${ordinal},
      baseline_id ${text} NOT NULL UNIQUE,
      endpoint_no ${integer} NOT NULL REFERENCES endpoints,
      version ${integer} NOT NULL,
      name ${text} NOT NULL,
      status ${text} NOT NULL CHECK (status IN ('proposed', 'active', 'superseded', 'rejected')),
      origin ${text} NOT NULL CHECK (origin IN ('registered', 'scan')),
      scan_no ${integer},
      set_no ${integer} NOT NULL REFERENCES line_sets,
      roots ${text} NOT NULL,
      complete ${integer} NOT NULL CHECK (complete IN (0, 1)),
      reason ${text},
      made_at ${text} NOT NULL,
      made_by ${text} NOT NULL,
      decided_at ${text},
      decided_by ${text},
      decided_reason ${text},
      UNIQUE (endpoint_no, version)
    ) ${end}`,
  ],
  // Over 40 lines: it is the form of tables.
  'endpoints/0004-events': ({ text, integer, ordinal, end, digest }) => [
    `CREATE TABLE endpoint_changes (
      change_no ${ordinal},
      change_id ${text} NOT NULL UNIQUE,
      ${digest('change_key')} NOT NULL UNIQUE,
      first_seen ${text} NOT NULL,
      approved_at ${text},
      approved_by ${text},
      approved_reason ${text}
    ) ${end}`,
    `CREATE TABLE change_windows (
      window_no ${ordinal},
      window_id ${text} NOT NULL UNIQUE,
      is_for_all ${integer} NOT NULL CHECK (is_for_all IN (0, 1)),
      from_at ${text} NOT NULL,
      until_at ${text} NOT NULL,
      reason ${text} NOT NULL,
      made_at ${text} NOT NULL,
      made_by ${text} NOT NULL,
      approved_at ${text},
      approved_by ${text},
      approved_reason ${text}
    ) ${end}`,
    'CREATE INDEX change_windows_by_end ON change_windows (until_at)',
    `CREATE TABLE change_window_endpoints (
      window_no ${integer} NOT NULL REFERENCES change_windows,
      endpoint_no ${integer} NOT NULL REFERENCES endpoints,
      PRIMARY KEY (window_no, endpoint_no)
    ) ${end}`,
    `CREATE TABLE endpoint_events (
      event_no ${ordinal},
      event_id ${text} NOT NULL UNIQUE,
      endpoint_no ${integer} NOT NULL REFERENCES endpoints,
      change_no ${integer},
      scan_no ${integer},
      baseline_no ${integer},
      event_type ${text} NOT NULL,
      severity ${text} NOT NULL,
      plain_severity ${text} NOT NULL,
      path ${text},
      path_base64 ${text},
      ${digest('expected_sha256')},
      ${digest('observed_sha256')},
      expected ${text},
      observed ${text},
      explanation ${text} NOT NULL,
      status ${text} NOT NULL CHECK (status IN ('open', 'acknowledged', 'quieted', 'resolved')),
      occurrences ${integer} NOT NULL,
      first_seen ${text} NOT NULL,
      last_seen ${text} NOT NULL,
      resolved_at ${text},
      acknowledged_by ${text},
      acknowledged_at ${text},
      window_no ${integer},
      alert_state ${text} NOT NULL,
      told_by ${text},
      entry_sequence ${integer} NOT NULL
    ) ${end}`,
    'CREATE INDEX endpoint_events_unresolved ON endpoint_events (endpoint_no) WHERE resolved_at IS NULL',
    'CREATE INDEX endpoint_events_by_endpoint ON endpoint_events (endpoint_no, event_no)',
    'CREATE INDEX endpoint_events_by_status ON endpoint_events (status, severity, event_no)',
    'CREATE INDEX endpoint_events_by_change ON endpoint_events (change_no, event_no)',
    'CREATE INDEX endpoint_events_by_window ON endpoint_events (window_no, event_no)',
    'CREATE INDEX endpoint_events_told ON endpoint_events (told_by) WHERE told_by IS NOT NULL',
    `CREATE TABLE endpoint_event_versions (id ${integer} PRIMARY KEY, version ${integer} NOT NULL) ${end}`,
    'INSERT INTO endpoint_event_versions VALUES (1, 0)',
  ],
  'endpoints/0010-bait': ({ text, integer, bytes, ordinal, end }) => [
    `CREATE TABLE endpoint_bait (
      bait_no ${ordinal},
      bait_id ${text} NOT NULL UNIQUE,
      endpoint_no ${integer} NOT NULL REFERENCES endpoints,
      credential_id ${text} NOT NULL,
      credential_type ${text} NOT NULL,
      label ${text} NOT NULL,
      path ${text} NOT NULL,
      mode ${text} NOT NULL,
      uid ${integer},
      gid ${integer},
      status ${text} NOT NULL,
      content ${bytes},
      seen_by ${text} NOT NULL,
      reason ${text},
      asked_at ${text} NOT NULL,
      planted_at ${text},
      ended_at ${text}
    ) ${end}`,
    'CREATE INDEX endpoint_bait_by_endpoint ON endpoint_bait (endpoint_no, bait_no)',
    'CREATE UNIQUE INDEX endpoint_bait_places ON endpoint_bait (endpoint_no, path) WHERE ended_at IS NULL',
  ],
  'endpoints/0011-retired': ({ text }) =>
    ['retired_at', 'retired_by', 'retired_reason'].map((name) => `ALTER TABLE endpoints ADD COLUMN ${name} ${text}`),
  'endpoints/0012-checks': ({ text, integer, ordinal, end }) => [
    `CREATE TABLE endpoint_checks (
      check_no ${ordinal},
      endpoint_no ${integer} NOT NULL REFERENCES endpoints,
      checked_at ${text} NOT NULL,
      reports ${integer} NOT NULL,
      findings ${integer} NOT NULL
    ) ${end}`,
    'CREATE INDEX endpoint_checks_by_endpoint ON endpoint_checks (endpoint_no, check_no)',
  ],
  // Events and scans name their entries as records of the other services do. The table of them is there to be quick.
  'endpoints/0013-entry-hash': ({ text, integer }) => [
    `ALTER TABLE endpoint_events ADD COLUMN entry_hash ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE endpoint_scans ADD COLUMN entry_sequence ${integer}`,
    `ALTER TABLE endpoint_scans ADD COLUMN entry_hash ${text}`,
    `CREATE TABLE endpoint_entries AS SELECT endpoint_no, entries.sequence, hash,
        CASE WHEN action = 'report.accepted' THEN resource_id END AS scan_id
      FROM endpoints JOIN streams ON stream_id = 'endpoints/' || endpoint_id
        JOIN entries ON entries.stream_no = streams.stream_no
      WHERE action IN ('report.accepted', 'events.raised')`,
    'CREATE INDEX endpoint_entries_by_sequence ON endpoint_entries (endpoint_no, sequence)',
    'CREATE INDEX endpoint_entries_by_scan ON endpoint_entries (endpoint_no, scan_id)',
    `UPDATE endpoint_events SET entry_hash = COALESCE((SELECT hash FROM endpoint_entries AS entry
      WHERE entry.endpoint_no = endpoint_events.endpoint_no AND entry.sequence = entry_sequence), '')`,
    ...['sequence', 'hash'].map(
      (column) => `UPDATE endpoint_scans SET entry_${column} = (SELECT entry.${column} FROM endpoint_entries AS entry
        WHERE entry.endpoint_no = endpoint_scans.endpoint_no AND entry.scan_id = endpoint_scans.scan_id
        ORDER BY entry.sequence LIMIT 1)`,
    ),
    'DROP TABLE endpoint_entries',
  ],
};
