import type { AlertSeverity, AlertState } from '../alerts/words.ts';
import { bytes, digest, flag, integer, optional, ordinal, type TablesOf, table, text } from '../database/table.ts';
import type { Channel, CredentialType, Depth, DetectionStatus, Origin, PlantLocation } from './words.ts';

export const TRAP_TABLES = {
  traps: table({
    trap_no: ordinal(),
    credential_id: text('UNIQUE'),
    credential_type: text<CredentialType>(),
    plant_location: text<PlantLocation>(),
    label: text(),
    origin: text<Origin>(),
    /** The name of the decoy that it leads to; null for one that leads to none. */
    decoy: optional(text()),
    /** JSON of the credential, in a SecretBox. */
    secret: bytes(),
    created_at: text(),
    planted_at: optional(text()),
    confirmed_at: optional(text()),
    /** Since when it stands as triggered; null again once it was reset. */
    triggered_at: optional(text()),
    rotated_at: optional(text()),
    revoked_at: optional(text()),
    expires_at: optional(text()),
    /** The trap in whose place this one is. */
    rotated_from: optional(text()),
    detection_count: integer(),
    last_detected_at: optional(text()),
  }),
  /** What uses of traps are recognised by. */
  trap_marks: table({
    /** Hex HMAC-SHA-256 of kind and value: the database does not tell what to look for. */
    mark: digest('PRIMARY KEY'),
    trap_no: integer('REFERENCES traps'),
  }),
  detections: table(
    {
      detection_no: ordinal(),
      /** Grows with each change of any detection. */
      change_no: integer(),
      detection_id: text('UNIQUE'),
      trap_no: integer('REFERENCES traps'),
      /** Hex SHA-256 of what its occurrences have in common. */
      fold: digest(),
      depth: text<Depth>(),
      severity: text<AlertSeverity>(),
      channel: text<Channel>(),
      source_event_id: optional(text()),
      source_ip: optional(text()),
      user_agent: optional(text()),
      action: optional(text()),
      service: optional(text()),
      region: optional(text()),
      /** 1, 0, or null where it cannot be told. */
      auth_verified: optional(flag()),
      /** Of the raw request of its first occurrence, hex. */
      request_sha256: digest(),
      detected_at: text(),
      event_time: text(),
      first_seen: text(),
      last_seen: text(),
      occurrences: integer(),
      status: text<DetectionStatus>(),
      acknowledged_by: optional(text()),
      acknowledged_at: optional(text()),
      alert_state: text<AlertState>(),
      /** To deliver its last alert. */
      alert_attempts: integer(),
      /** The entry of the stream `traps` that was committed with it. */
      entry_sequence: integer(),
      entry_hash: text(),
      /** When the entry with its final count was written; null as long as more may follow. */
      settled_at: optional(text()),
    },
    {
      indexes: {
        detections_by_fold: '(trap_no, fold, last_seen)',
        detections_unsettled: '(last_seen) WHERE settled_at IS NULL',
        detections_by_status: '(status, detection_no)',
      },
    },
  ),
  /** The first and the last occurrences of a detection. */
  detection_occurrences: table(
    {
      detection_no: integer('REFERENCES detections'),
      /** From 1 on. */
      number: integer(),
      event_time: text(),
      depth: text<Depth>(),
      action: optional(text()),
      source_event_id: optional(text()),
      request_sha256: digest(),
    },
    { constraints: ['PRIMARY KEY (detection_no, number)'] },
  ),
  /** Events of others that were seen, so that one that is delivered twice counts once. */
  detection_events: table(
    {
      channel: text<Channel>(),
      source_event_id: text(),
    },
    { constraints: ['PRIMARY KEY (channel, source_event_id)'] },
  ),
  /** When a channel of a trap was last seen to work, by a marked use. */
  channel_proofs: table(
    {
      trap_no: integer('REFERENCES traps'),
      channel: text<Channel>(),
      proved_at: text(),
    },
    { constraints: ['PRIMARY KEY (trap_no, channel)'] },
  ),
  /** One row: the last change_no that was given. */
  detection_changes: table(
    {
      id: integer('PRIMARY KEY CHECK (id = 1)'),
      change_no: integer(),
    },
    { firstRows: ['(1, 0)'] },
  ),
  /** When somebody else last told of what they saw. */
  channel_reports: table({
    channel: text<Channel>('PRIMARY KEY'),
    reported_at: text(),
  }),
  /** Log files that were read, of the last days. */
  cloudtrail_objects: table({
    object_key: text('PRIMARY KEY'),
    read_at: text(),
  }),
};

export type TrapTables = TablesOf<typeof TRAP_TABLES>;
