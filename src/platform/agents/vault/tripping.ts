import type { Alerts } from '../../alerts/api.ts';
import type { Transaction } from '../../database/database.ts';
import type { VaultTraps, VaultUse } from '../../traps/api.ts';
import { alertOfAgent } from '../alerting.ts';
import type { AgentEntry } from '../entries.ts';
import type { AgentDecoy } from './decoys.ts';

/** Origin of a request to a vault. */
export interface VaultAsker {
  address: string | null;
  userAgent: string | null;
}

export const UNKNOWN_ASKER: VaultAsker = { address: null, userAgent: null };

/** Uses of a decoy. `called`: an action with the tool was reported. */
export type DecoyUse = 'read' | 'overwritten' | 'removed' | 'called';

/** Use of a decoy. */
export interface DecoyTrip {
  decoy: AgentDecoy;
  agentId: string;
  /** User, as named in entries. */
  by: string;
  use: DecoyUse;
  /** RFC 3339 UTC with milliseconds. */
  at: string;
  /** Id of the use, the `action_id`, so that a use reported twice counts once; null if there is none. */
  eventId: string | null;
  asker: VaultAsker;
}

/**
 * Records uses of decoys as detections of their traps, and sends alerts about both. Call this after locking all other
 * rows of the transaction, and before its entries: see `VaultTraps.record`.
 * @returns entries to be appended.
 */
export async function tripDecoys(
  transaction: Transaction,
  { traps, alerts }: { traps: Pick<VaultTraps, 'record'>; alerts: Pick<Alerts, 'notify'> },
  trips: readonly DecoyTrip[],
): Promise<AgentEntry[]> {
  if (trips.length === 0) return [];
  const recorded = await traps.record(transaction, trips.map(useOf));
  for (const { decoy, agentId } of trips)
    await alerts.notify(transaction, alertOfAgent('agent.decoy_used', { agent_id: agentId, what: decoy.decoy_id }));
  return trips.map((trip, at) => entryOf(trip, recorded[at]?.detection_id ?? null));
}

function useOf({ decoy, agentId, by, use, at, eventId, asker }: DecoyTrip): VaultUse {
  const { decoy_id, sort, name, credential_id } = decoy;
  const isTool = sort === 'tool';
  return {
    credentialId: credential_id,
    channel: isTool ? 'tool_call' : 'vault_read',
    depth: use === 'read' ? 'read' : 'used',
    at,
    eventId,
    address: asker.address,
    userAgent: asker.userAgent,
    action: `${use} the ${sort} "${name}" as ${by}`,
    request: JSON.stringify({ agent_id: agentId, decoy_id, name, use, by, at, ...asker }),
  };
}

function entryOf({ decoy, agentId, by, use }: DecoyTrip, detection_id: string | null): AgentEntry {
  const { decoy_id, sort, name, credential_id } = decoy;
  const more = { kind: sort, name, use, credential_id, detection_id };
  return { agentId, actor: by, action: 'vault.decoy_used', of: ['decoy', decoy_id], more };
}
