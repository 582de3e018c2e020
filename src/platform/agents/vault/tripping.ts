import type { Alerts } from '../../alerts/api.ts';
import type { Transaction } from '../../database/database.ts';
import type { VaultTraps, VaultUse } from '../../traps/api.ts';
import { alertOfAgent } from '../alerting.ts';
import type { AgentEntry } from '../entries.ts';
import type { AgentDecoy } from './decoys.ts';

/** From where somebody asks. */
export interface VaultAsker {
  address: string | null;
  userAgent: string | null;
}

export const UNKNOWN_ASKER: VaultAsker = { address: null, userAgent: null };

/** `called`: an action was reported with the tool. */
export type DecoyUse = 'read' | 'overwritten' | 'removed' | 'called';

/** Somebody used a decoy. */
export interface DecoyTrip {
  decoy: AgentDecoy;
  agentId: string;
  /** As entries name who did it. */
  by: string;
  use: DecoyUse;
  /** RFC 3339 UTC with milliseconds. */
  at: string;
  /** The same one, told twice, counts once: the `action_id`; null where it has no id. */
  eventId: string | null;
  asker: VaultAsker;
}

/**
 * Records uses of decoys as detections of their traps, and sends alerts of both. It comes after all that the transaction
 * locks, and before its entries: see `VaultTraps.record`.
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
