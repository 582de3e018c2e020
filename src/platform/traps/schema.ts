import type { Generated } from 'kysely';
import type { AlertSeverity, AlertState } from '../alerts/words.ts';
import type { Channel, CredentialType, Depth, DetectionStatus, Origin, PlantLocation } from './words.ts';

// Over ten members: they are columns.
export interface TrapTable {
  trap_no: Generated<number>;
  credential_id: string;
  credential_type: CredentialType;
  plant_location: PlantLocation;
  label: string;
  origin: Origin;
  /** The name of the decoy that it leads to; null for one that leads to none. */
  decoy: string | null;
  /** JSON of the credential, in a SecretBox. */
  secret: Uint8Array;
  created_at: string;
  planted_at: string | null;
  confirmed_at: string | null;
  /** Since when it stands as triggered; null again once it was reset. */
  triggered_at: string | null;
  rotated_at: string | null;
  revoked_at: string | null;
  expires_at: string | null;
  /** The trap in whose place this one is. */
  rotated_from: string | null;
  detection_count: number;
  last_detected_at: string | null;
}

/** What uses of traps are recognised by. */
export interface TrapMarkTable {
  /** Hex HMAC-SHA-256 of kind and value: the database does not tell what to look for. */
  mark: string;
  trap_no: number;
}

// Over ten members: they are columns.
export interface DetectionTable {
  detection_no: Generated<number>;
  /** Grows with each change of any detection. */
  change_no: number;
  detection_id: string;
  trap_no: number;
  /** Hex SHA-256 of what its occurrences have in common. */
  fold: string;
  depth: Depth;
  severity: AlertSeverity;
  channel: Channel;
  source_event_id: string | null;
  source_ip: string | null;
  user_agent: string | null;
  action: string | null;
  service: string | null;
  region: string | null;
  /** 1, 0, or null where it cannot be told. */
  auth_verified: number | null;
  /** Of the raw request of its first occurrence, hex. */
  request_sha256: string;
  detected_at: string;
  event_time: string;
  first_seen: string;
  last_seen: string;
  occurrences: number;
  status: DetectionStatus;
  acknowledged_by: string | null;
  acknowledged_at: string | null;
  alert_state: AlertState;
  /** To deliver its last alert. */
  alert_attempts: number;
  /** The entry of the stream `traps` that was committed with it. */
  entry_sequence: number;
  entry_hash: string;
  /** When the entry with its final count was written; null as long as more may follow. */
  settled_at: string | null;
}

/** The first and the last occurrences of a detection. */
export interface OccurrenceTable {
  detection_no: number;
  /** From 1 on. */
  number: number;
  event_time: string;
  depth: Depth;
  action: string | null;
  source_event_id: string | null;
  request_sha256: string;
}

/** Events of others that were seen, so that one that is delivered twice counts once. */
export interface SeenEventTable {
  channel: Channel;
  source_event_id: string;
}

/** When a channel of a trap was last seen to work, by a marked use. */
export interface ChannelProofTable {
  trap_no: number;
  channel: Channel;
  proved_at: string;
}

export interface TrapTables {
  /** When somebody else last told of what they saw. */
  channel_reports: { channel: Channel; reported_at: string };
  /** Log files that were read, of the last days. */
  cloudtrail_objects: { object_key: string; read_at: string };
  traps: TrapTable;
  trap_marks: TrapMarkTable;
  detections: DetectionTable;
  detection_occurrences: OccurrenceTable;
  detection_events: SeenEventTable;
  channel_proofs: ChannelProofTable;
  /** One row: the last change_no that was given. */
  detection_changes: { id: number; change_no: number };
}
