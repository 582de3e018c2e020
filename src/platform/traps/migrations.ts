import type { Migrations } from '../database/migration.ts';

export const TRAP_MIGRATIONS: Migrations = {
  // Over 40 lines: it is one form of all tables.
  'traps/0001-traps': ({ text, integer, bytes, ordinal, end, digest }) => [
    `CREATE TABLE traps (
      trap_no ${ordinal},
      credential_id ${text} NOT NULL UNIQUE,
      credential_type ${text} NOT NULL,
      plant_location ${text} NOT NULL,
      label ${text} NOT NULL,
      origin ${text} NOT NULL,
      decoy ${text},
      secret ${bytes} NOT NULL,
      created_at ${text} NOT NULL,
      planted_at ${text},
      confirmed_at ${text},
      triggered_at ${text},
      rotated_at ${text},
      revoked_at ${text},
      expires_at ${text},
      rotated_from ${text},
      detection_count ${integer} NOT NULL,
      last_detected_at ${text}
    ) ${end}`,
    `CREATE TABLE trap_marks (
      ${digest('mark')} PRIMARY KEY,
      trap_no ${integer} NOT NULL REFERENCES traps
    ) ${end}`,
    `CREATE TABLE detections (
      detection_no ${ordinal},
      change_no ${integer} NOT NULL,
      detection_id ${text} NOT NULL UNIQUE,
      trap_no ${integer} NOT NULL REFERENCES traps,
      ${digest('fold')} NOT NULL,
      depth ${text} NOT NULL,
      severity ${text} NOT NULL,
      channel ${text} NOT NULL,
      source_event_id ${text},
      source_ip ${text},
      user_agent ${text},
      action ${text},
      service ${text},
      region ${text},
      auth_verified ${integer} CHECK (auth_verified IN (0, 1)),
      ${digest('request_sha256')} NOT NULL,
      detected_at ${text} NOT NULL,
      event_time ${text} NOT NULL,
      first_seen ${text} NOT NULL,
      last_seen ${text} NOT NULL,
      occurrences ${integer} NOT NULL,
      status ${text} NOT NULL,
      acknowledged_by ${text},
      acknowledged_at ${text},
      alert_state ${text} NOT NULL,
      alert_attempts ${integer} NOT NULL,
      entry_id ${text} NOT NULL,
      entry_sequence ${integer} NOT NULL,
      settled_at ${text}
    ) ${end}`,
    'CREATE INDEX detections_by_fold ON detections (trap_no, fold, last_seen)',
    'CREATE INDEX detections_unsettled ON detections (last_seen) WHERE settled_at IS NULL',
    'CREATE INDEX detections_by_status ON detections (status, detection_no)',
    `CREATE TABLE detection_occurrences (
      detection_no ${integer} NOT NULL REFERENCES detections,
      number ${integer} NOT NULL,
      event_time ${text} NOT NULL,
      depth ${text} NOT NULL,
      action ${text},
      source_event_id ${text},
      ${digest('request_sha256')} NOT NULL,
      PRIMARY KEY (detection_no, number)
    ) ${end}`,
    `CREATE TABLE detection_events (
      channel ${text} NOT NULL,
      source_event_id ${text} NOT NULL,
      PRIMARY KEY (channel, source_event_id)
    ) ${end}`,
    `CREATE TABLE channel_proofs (
      trap_no ${integer} NOT NULL REFERENCES traps,
      channel ${text} NOT NULL,
      proved_at ${text} NOT NULL,
      PRIMARY KEY (trap_no, channel)
    ) ${end}`,
    `CREATE TABLE alert_channels (
      channel_no ${ordinal},
      alert_channel_id ${text} NOT NULL UNIQUE,
      kind ${text} NOT NULL,
      name ${text} NOT NULL,
      target ${text} NOT NULL,
      least_severity ${text} NOT NULL,
      secret ${bytes},
      created_at ${text} NOT NULL,
      removed_at ${text}
    ) ${end}`,
    `CREATE TABLE alerts (
      message_id ${text} PRIMARY KEY,
      alert_channel_id ${text} NOT NULL,
      detection_id ${text} NOT NULL,
      trap_no ${integer} NOT NULL REFERENCES traps,
      source_ip ${text},
      depth ${text} NOT NULL,
      severity ${text} NOT NULL,
      made_at ${text} NOT NULL,
      state ${text} NOT NULL,
      attempts ${integer} NOT NULL,
      delivered_at ${text}
    ) ${end}`,
    'CREATE INDEX alerts_by_trap ON alerts (trap_no, made_at)',
    'CREATE INDEX alerts_by_detection ON alerts (detection_id)',
    `CREATE TABLE detection_changes (
      id ${integer} PRIMARY KEY CHECK (id = 1),
      change_no ${integer} NOT NULL
    ) ${end}`,
    'INSERT INTO detection_changes VALUES (1, 0)',
  ],
  'traps/0002-reports': ({ text, end }) => [
    `CREATE TABLE channel_reports (
      channel ${text} PRIMARY KEY,
      reported_at ${text} NOT NULL
    ) ${end}`,
    `CREATE TABLE cloudtrail_objects (
      object_key ${text} PRIMARY KEY,
      read_at ${text} NOT NULL
    ) ${end}`,
  ],
  // What told people is a room of its own, for all services. Whoever might say who is told still may.
  'traps/0003-alerts-elsewhere': () => [
    `INSERT INTO alerting_channels
        (alert_channel_id, kind, name, target, least_severity, sources, secret, created_at, removed_at)
      SELECT alert_channel_id, kind, name, target, least_severity, NULL, secret, created_at, removed_at
        FROM alert_channels ORDER BY channel_no`,
    `INSERT INTO alert_messages
        (message_id, alert_channel_id, source, kind, severity, subject_id, told_key, level, flood_key, made_at, state,
          attempts, delivered_at)
      SELECT message_id, alert_channel_id, 'traps', 'trap.used', severity, detection_id,
          credential_id || ' ' || COALESCE(source_ip, ''),
          CASE depth WHEN 'exposed' THEN 0 WHEN 'read' THEN 1 WHEN 'validated' THEN 2 ELSE 3 END,
          credential_id, made_at, state, attempts, delivered_at
        FROM alerts JOIN traps ON traps.trap_no = alerts.trap_no`,
    "UPDATE outbox SET kind = 'alerts/test' WHERE kind = 'traps/alert' AND payload LIKE '%\"detection_id\":null%'",
    'DROP TABLE alerts',
    'DROP TABLE alert_channels',
    ...['read', 'write'].map(
      (what) => `UPDATE api_keys SET scopes = scopes || ' alerts:${what}' WHERE scopes || ' ' LIKE '%traps:${what} %'`,
    ),
  ],
  // Each detection names its entry as records of the other services do.
  'traps/0004-entry-hash': ({ text }) => [
    `ALTER TABLE detections ADD COLUMN entry_hash ${text} NOT NULL DEFAULT ''`,
    `UPDATE detections SET entry_hash = COALESCE((SELECT hash FROM entries JOIN streams ON streams.stream_no = entries.stream_no
      WHERE stream_id = 'traps' AND sequence = entry_sequence), '')`,
    'ALTER TABLE detections DROP COLUMN entry_id',
  ],
};
