import type { Alert, AlertContent, AlertedService } from '../alerts/api.ts';
import type { Detections } from './detections.ts';
import { DEPTHS } from './enums.ts';
import { type Detection, nextChange, type Trap } from './repository.ts';
import type { TrapTables } from './tables.ts';
import type { WireDetection } from './wire.ts';

/** Returns the alert of a detection. Each trap and address sends at most one an hour, unless a use goes deeper. */
export function alertOf(
  { detection_id, severity, depth, source_ip }: Detection,
  { credential_id }: Pick<Trap, 'credential_id'>,
): Alert {
  return {
    source: 'traps',
    kind: 'trap.used',
    severity,
    subject_id: detection_id,
    group_key: `${credential_id} ${source_ip ?? ''}`,
    level: DEPTHS.indexOf(depth),
    flood_key: credential_id,
  };
}

/** Describes detections to the alert service, and records the state of their alerts. */
export function alertedTraps(detections: Pick<Detections, 'find'>): AlertedService {
  return {
    source: 'traps',
    async describe({ subject_id }) {
      const { occurrences_kept: _, ...detection } = await detections.find(subject_id);
      return contentOf(detection);
    },
    async noteAlert(transaction, detectionId, readStanding) {
      // Locks the number of changes first, in the order in which recording locks.
      const change_no = await nextChange(transaction);
      const { state, attempts } = await readStanding();
      const detections = transaction.tables<TrapTables>().updateTable('detections');
      const noted = detections.set({ change_no, alert_state: state, alert_attempts: attempts });
      await noted.where('detection_id', '=', detectionId).execute();
    },
  };
}

function contentOf(detection: WireDetection): AlertContent {
  const { detection_id, label, credential_type, plant_location, source_ip, leaked_between } = detection;
  return {
    subject: `Trap used: ${label}${source_ip === null ? '' : ` by ${source_ip}`}`,
    sentence: 'Somebody used a trap, a credential that has no legitimate use.',
    facts: [
      ['Trap', `${label} (${credential_type}, planted at ${plant_location})`],
      ['Depth', detection.depth],
      ['Severity', detection.severity],
      ['First seen', detection.first_seen],
      ['Last seen', detection.last_seen],
      ['Uses', String(detection.occurrences)],
      ['From', source_ip],
      ['Client', detection.user_agent],
      ['Action', detection.action],
      ['Leaked', `after ${leaked_between[0]} and before ${leaked_between[1]}`],
    ],
    path: `/app/traps/detections/${encodeURIComponent(detection_id)}`,
    data: detection,
  };
}
