import type { Json } from '../../core/json/canonical.ts';
import type { AuditLog, EntryPlace } from '../audit/api.ts';
import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { Principal } from '../http/principal.ts';
import { streamOfAgent } from './enums.ts';

/** Something that happened to an agent, or that it did. */
export interface AgentEntry {
  /** In whose stream it stands. */
  agentId: string;
  /** As entries name who acted: `person:ID`, `key:ID`, `agent:ID`, `platform`. */
  actor: string;
  /** `agent.registered`, `action.logged`, `kill.step`. */
  action: string;
  of: readonly [
    type: 'agent' | 'action' | 'passport' | 'secret' | 'lease' | 'decoy' | 'kill' | 'trust' | 'vault',
    id: string,
  ];
  more: { [name: string]: Json };
}

/** The actor when only time acts. */
export const PLATFORM = 'platform';

/**
 * Appends entries to the streams of their agents, in their order. Last in its transaction: see `appendIn`.
 * @returns where each one is.
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

/** The binding of a key that speaks for an agent. */
export function boundToAgent(agentId: string): string {
  return `${PREFIX}${agentId}`;
}

/** The actor as entries name it: the agent itself if the key is bound to one. */
export function speakerOf({ kind, id, boundTo = null }: Pick<Principal, 'kind' | 'id' | 'boundTo'>): string {
  return boundTo ?? `${kind}:${id}`;
}

/** @throws DomainError `forbidden` for a key that is bound to something else: nobody talks about another. */
export function refuseOthers({ boundTo = null }: Pick<Principal, 'boundTo'>, agentId: string): void {
  if (boundTo === null || boundTo === boundToAgent(agentId)) return;
  throw new DomainError(
    'forbidden',
    'this API key is bound to something else than this agent, and cannot speak for it',
  );
}
