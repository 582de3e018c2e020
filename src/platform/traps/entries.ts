import type { AuditLog, OwnEntry } from '../audit/api.ts';
import type { Transaction } from '../database/database.ts';
import type { Actor } from '../http/principal.ts';
import { TRAPS_STREAM } from './enums.ts';
import type { Detection, Trap } from './repository.ts';

/** The entry in the stream `traps` when a detection begins. */
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

/** The entry when somebody goes further than before, or shows that they have the secret. */
export function deepenedEntry(detection: Detection, trap: Trap): OwnEntry {
  const { action, occurrences, last_seen } = detection;
  const seen = { requested: action, occurrences, last_seen };
  return of(detection, trap, 'trap.used_deeper', { ...reachOf(detection), ...seen });
}

/** The entry when a channel names who did what another channel reported without a name. */
export function tracedEntry(detection: Detection, trap: Trap): OwnEntry {
  const { event_time, request_sha256 } = detection;
  const told = { ...reachOf(detection), ...sourceOf(detection), event_time, request_sha256 };
  return of(detection, trap, 'trap.use_traced', told);
}

/** The entry when a detection has ended: how often its trap was used. */
export function settledEntry(detection: Detection, trap: Trap): OwnEntry {
  const { depth, severity, occurrences, first_seen, last_seen } = detection;
  return of(detection, trap, 'trap.use_ended', { depth, severity, occurrences, first_seen, last_seen });
}

/** The depth of a detection, with its severity. */
function reachOf({ depth, severity, auth_verified }: Detection) {
  return { depth, severity, auth_verified: auth_verified === null ? null : auth_verified === 1 };
}

/** The channel that saw a use, and what it says of the request. */
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

/** Something that was done with a trap or a detection, by somebody who may. */
interface TrapAct {
  actor: Pick<Actor, 'name'>;
  action: string;
  of: readonly [type: 'trap' | 'detection', id: string];
  more: OwnEntry['metadata'];
}

/** Records an act in the transaction of what was done; last in it: see `appendIn`. */
export async function recordAct(
  log: Pick<AuditLog, 'appendIn'>,
  transaction: Transaction,
  { actor, action, of: [resource_type, resource_id], more }: TrapAct,
): Promise<void> {
  await log.appendIn(transaction, TRAPS_STREAM, [
    { actor: actor.name, action, resource_type, resource_id, metadata: more },
  ]);
}
