import type { AuditLog, OwnEntry } from '../audit/api.ts';
import type { Transaction } from '../database/database.ts';
import type { Actor } from '../http/principal.ts';
import { TRAPS_STREAM } from './enums.ts';
import type { Detection, Trap } from './repository.ts';

/** Returns the entry of the stream `traps` for a new detection. */
export function detectedEntry(detection: Detection, trap: Trap): OwnEntry {
  const { event_time, request_sha256, detected_at, status } = detection;
  return of(detection, trap, 'trap.used', {
    ...reachOf(detection),
    ...sourceOf(detection),
    event_time,
    request_sha256,
    detected_at,
    status,
    acknowledged_by: null,
    acknowledged_at: null,
  });
}

/** Returns the entry for a use that goes deeper than before, or that shows possession of the secret. */
export function deepenedEntry(detection: Detection, trap: Trap): OwnEntry {
  const { action, occurrences, last_seen } = detection;
  const seen = { requested: action, occurrences, last_seen };
  return of(detection, trap, 'trap.used_deeper', { ...reachOf(detection), ...seen });
}

/** Returns the entry for a use that one channel reported without its source and another channel now traces. */
export function tracedEntry(detection: Detection, trap: Trap): OwnEntry {
  const { event_time, request_sha256 } = detection;
  const told = { ...reachOf(detection), ...sourceOf(detection), event_time, request_sha256 };
  return of(detection, trap, 'trap.use_traced', told);
}

/** Returns the entry for an ended detection, with the number of uses. */
export function settledEntry(detection: Detection, trap: Trap): OwnEntry {
  const { depth, severity, occurrences, first_seen, last_seen } = detection;
  return of(detection, trap, 'trap.use_ended', { depth, severity, occurrences, first_seen, last_seen });
}

/** Returns the depth of a detection, with its severity. */
function reachOf({ depth, severity, auth_verified }: Detection) {
  return { depth, severity, auth_verified: auth_verified === null ? null : auth_verified === 1 };
}

/** Returns the channel that reported a use, and its facts about the request. */
function sourceOf({ channel, source_event_id, source_ip, user_agent, service, region, action }: Detection) {
  return { channel, source_event_id, source_ip, user_agent, service, region, requested: action };
}

function of(
  { detection_id, source_ip }: Detection,
  { credential_id, credential_type, plant_location, label }: Trap,
  action: string,
  more: OwnEntry['metadata'],
): OwnEntry {
  return {
    actor: source_ip === null ? 'unknown' : `address:${source_ip}`,
    action,
    resource_type: 'trap',
    resource_id: credential_id,
    metadata: { detection_id, credential_type, plant_location, label, ...more },
  };
}

/** Act of a person or key on a trap or a detection. */
interface TrapAct {
  actor: Pick<Actor, 'name'>;
  action: string;
  of: readonly [type: 'trap' | 'detection', id: string];
  more: OwnEntry['metadata'];
}

/** Records an act in its transaction. Call this last in the transaction: see `appendIn`. */
export async function recordAct(
  log: Pick<AuditLog, 'appendIn'>,
  transaction: Transaction,
  { actor, action, of: [resource_type, resource_id], more }: TrapAct,
): Promise<void> {
  await log.appendIn(transaction, TRAPS_STREAM, [
    { actor: actor.name, action, resource_type, resource_id, metadata: more },
  ]);
}
