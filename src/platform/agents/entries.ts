import type { Json } from '../../core/json/canonical.ts';
import type { AuditLog, EntryPlace } from '../audit/api.ts';
import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { Actor, Principal } from '../http/principal.ts';
import { streamOfAgent } from './enums.ts';

/** Event about an agent, or action of an agent. */
export interface AgentEntry {
  /** Agent in whose stream the entry is. */
  agentId: string;
  /** Actor: `person:ID`, `key:ID`, `agent:ID` or `platform`. */
  actor: string;
  /** Action such as `agent.registered`, `action.logged` or `kill.step`. */
  action: string;
  of: readonly [
    type: 'agent' | 'action' | 'passport' | 'secret' | 'lease' | 'decoy' | 'kill' | 'trust' | 'vault',
    id: string,
  ];
  more: { [name: string]: Json };
}

/** Returns the entry of an act on an agent. */
export function entryOfAgent(
  { name: actor }: Pick<Actor, 'name'>,
  { agent_id: agentId }: { agent_id: string },
  action: string,
  more: AgentEntry['more'],
): AgentEntry {
  return { agentId, actor, action, of: ['agent', agentId], more };
}

/** Actor of changes that are due to time alone. */
export const PLATFORM = 'platform';

/**
 * Appends entries to the streams of their agents, in order. Call this last in a transaction: see `appendIn`.
 * @returns the place of each entry.
 */
export async function writeEntries(
  log: Pick<AuditLog, 'appendAllIn'>,
  transaction: Transaction,
  entries: readonly AgentEntry[],
): Promise<EntryPlace[]> {
  const placed = entries.map(({ agentId, actor, action, of: [resource_type, resource_id], more }) => ({
    streamId: streamOfAgent(agentId),
    actor,
    action,
    resource_type,
    resource_id,
    metadata: more,
  }));
  return log.appendAllIn(transaction, placed);
}

const PREFIX = 'agent:';

/** Returns the binding of a key that acts for an agent. */
export function boundToAgent(agentId: string): string {
  return `${PREFIX}${agentId}`;
}

/** Returns the actor as named in entries: the agent itself if the key is bound to one. */
export function speakerOf({ kind, id, boundTo = null }: Pick<Principal, 'kind' | 'id' | 'boundTo'>): string {
  return boundTo ?? `${kind}:${id}`;
}

/** @throws DomainError `forbidden` if the key is bound to anything but this agent. */
export function refuseOthers({ boundTo = null }: Pick<Principal, 'boundTo'>, agentId: string): void {
  if (boundTo === null || boundTo === boundToAgent(agentId)) return;
  throw new DomainError('forbidden', 'this API key is not bound to this agent, and cannot act for it');
}
