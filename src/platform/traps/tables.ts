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
    /** Name of the decoy that the trap leads to; null if there is none. */
    decoy: column.optional(column.text()),
    /** JSON of the credential, sealed in a SecretBox. */
    secret: column.bytes(),
    created_at: column.text(),
    planted_at: column.optional(column.text()),
    confirmed_at: column.optional(column.text()),
    /** Time since which the trap counts as triggered; null after a reset. */
    triggered_at: column.optional(column.text()),
    rotated_at: column.optional(column.text()),
    revoked_at: column.optional(column.text()),
    expires_at: column.optional(column.text()),
    /** Trap that this one replaces. */
    rotated_from: column.optional(column.text()),
    detection_count: column.integer(),
    last_detected_at: column.optional(column.text()),
  }),
  /** Marks by which uses of traps are recognized. */
  trap_marks: table({
    /** Hex HMAC-SHA-256 of kind and value, so that the database does not reveal the values. */
    mark: column.digest('PRIMARY KEY'),
    trap_no: column.integer('REFERENCES traps'),
  }),
  detections: table(
    {
      detection_no: column.ordinal(),
      /** Number of the last change of any detection when this one changed. */
      change_no: column.integer(),
      detection_id: column.text('UNIQUE'),
      trap_no: column.integer('REFERENCES traps'),
      /** Hex SHA-256 of the facts that its occurrences share. */
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
      /** 1 or 0; null if unknown. */
      auth_verified: column.optional(column.flag()),
      /** Digest of the raw request of the first occurrence. */
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
      /** Attempts to deliver the last alert. */
      alert_attempts: column.integer(),
      /** Entry of the stream `traps` that was committed with the detection. */
      entry_sequence: column.integer(),
      entry_hash: column.text(),
      /** Time of the entry with the final count; null while more uses may follow. */
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
  /** First and last occurrences of a detection. */
  detection_occurrences: table(
    {
      detection_no: column.integer('REFERENCES detections'),
      /** Number of the occurrence, from 1. */
      number: column.integer(),
      event_time: column.text(),
      depth: column.text<Depth>(),
      action: column.optional(column.text()),
      source_event_id: column.optional(column.text()),
      request_sha256: column.digest(),
    },
    { constraints: ['PRIMARY KEY (detection_no, number)'] },
  ),
  /** Events of external sources, so that an event that is delivered twice counts once. */
  detection_events: table(
    { channel: column.text<Channel>(), source_event_id: column.text() },
    { constraints: ['PRIMARY KEY (channel, source_event_id)'] },
  ),
  /** Times at which channels of traps last detected a marked use. */
  channel_proofs: table(
    { trap_no: column.integer('REFERENCES traps'), channel: column.text<Channel>(), proved_at: column.text() },
    { constraints: ['PRIMARY KEY (trap_no, channel)'] },
  ),
  /** Last change_no, in one row. */
  detection_changes: table(
    { id: column.integer('PRIMARY KEY CHECK (id = 1)'), change_no: column.integer() },
    { firstRows: ['(1, 0)'] },
  ),
  /** Times of the last reports of external channels. */
  channel_reports: table({ channel: column.text<Channel>('PRIMARY KEY'), reported_at: column.text() }),
  /** Log files of the last days that were read. */
  cloudtrail_objects: table({ object_key: column.text('PRIMARY KEY'), read_at: column.text() }),
};

export type TrapTables = TablesOf<typeof TRAP_TABLES>;
