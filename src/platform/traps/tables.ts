import type { AlertSeverity, AlertState } from '../alert-enums.ts';
import { column, type TablesOf, table } from '../database/table.ts';
import type { Channel, CredentialType, Depth, DetectionStatus, Origin, PlantLocation } from './enums.ts';

export const TRAP_TABLES = {
  traps: table({
    trap_no: column.ordinal(),
    credential_id: column.text('UNIQUE'),
    credential_type: column.text<CredentialType>(),
    plant_location: column.text<PlantLocation>(),
    label: column.text(),
    origin: column.text<Origin>(),
    /** The name of the decoy that it leads to; null for one that leads to none. */
    decoy: column.optional(column.text()),
    /** JSON of the credential, in a SecretBox. */
    secret: column.bytes(),
    created_at: column.text(),
    planted_at: column.optional(column.text()),
    confirmed_at: column.optional(column.text()),
    /** Since when it stands as triggered; null again once it was reset. */
    triggered_at: column.optional(column.text()),
    rotated_at: column.optional(column.text()),
    revoked_at: column.optional(column.text()),
    expires_at: column.optional(column.text()),
    /** The trap in whose place this one is. */
    rotated_from: column.optional(column.text()),
    detection_count: column.integer(),
    last_detected_at: column.optional(column.text()),
  }),
  /** Marks by which uses of traps are recognized. */
  trap_marks: table({
    /** Hex HMAC-SHA-256 of kind and value: the database does not tell what to look for. */
    mark: column.digest('PRIMARY KEY'),
    trap_no: column.integer('REFERENCES traps'),
  }),
  detections: table(
    {
      detection_no: column.ordinal(),
      /** Grows with each change of any detection. */
      change_no: column.integer(),
      detection_id: column.text('UNIQUE'),
      trap_no: column.integer('REFERENCES traps'),
      /** Hex SHA-256 of what its occurrences have in common. */
      group_key: column.digest(),
      depth: column.text<Depth>(),
      severity: column.text<AlertSeverity>(),
      channel: column.text<Channel>(),
      source_event_id: column.optional(column.text()),
      source_ip: column.optional(column.text()),
      user_agent: column.optional(column.text()),
      action: column.optional(column.text()),
      service: column.optional(column.text()),
      region: column.optional(column.text()),
      /** 1, 0, or null where it cannot be told. */
      auth_verified: column.optional(column.flag()),
      /** The digest of the raw request of its first occurrence. */
      request_sha256: column.digest(),
      detected_at: column.text(),
      event_time: column.text(),
      first_seen: column.text(),
      last_seen: column.text(),
      occurrences: column.integer(),
      status: column.text<DetectionStatus>(),
      acknowledged_by: column.optional(column.text()),
      acknowledged_at: column.optional(column.text()),
      alert_state: column.text<AlertState>(),
      /** To deliver its last alert. */
      alert_attempts: column.integer(),
      /** The entry of the stream `traps` that was committed with it. */
      entry_sequence: column.integer(),
      entry_hash: column.text(),
      /** When the entry with its final count was written; null as long as more may follow. */
      settled_at: column.optional(column.text()),
    },
    {
      indexes: {
        detections_by_group: '(trap_no, group_key, last_seen)',
        detections_unsettled: '(last_seen) WHERE settled_at IS NULL',
        detections_by_status: '(status, detection_no)',
      },
    },
  ),
  /** The first and the last occurrences of a detection. */
  detection_occurrences: table(
    {
      detection_no: column.integer('REFERENCES detections'),
      /** From 1 on. */
      number: column.integer(),
      event_time: column.text(),
      depth: column.text<Depth>(),
      action: column.optional(column.text()),
      source_event_id: column.optional(column.text()),
      request_sha256: column.digest(),
    },
    { constraints: ['PRIMARY KEY (detection_no, number)'] },
  ),
  /** Events of others that were seen, so that one that is delivered twice counts once. */
  detection_events: table(
    { channel: column.text<Channel>(), source_event_id: column.text() },
    { constraints: ['PRIMARY KEY (channel, source_event_id)'] },
  ),
  /** When a channel of a trap was last seen to work, by a marked use. */
  channel_proofs: table(
    { trap_no: column.integer('REFERENCES traps'), channel: column.text<Channel>(), proved_at: column.text() },
    { constraints: ['PRIMARY KEY (trap_no, channel)'] },
  ),
  /** One row: the last change_no that was given. */
  detection_changes: table(
    { id: column.integer('PRIMARY KEY CHECK (id = 1)'), change_no: column.integer() },
    { firstRows: ['(1, 0)'] },
  ),
  /** When somebody else last told of what they saw. */
  channel_reports: table({ channel: column.text<Channel>('PRIMARY KEY'), reported_at: column.text() }),
  /** Log files that were read, of the last days. */
  cloudtrail_objects: table({ object_key: column.text('PRIMARY KEY'), read_at: column.text() }),
};

export type TrapTables = TablesOf<typeof TRAP_TABLES>;
