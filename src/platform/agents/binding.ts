import { DomainError } from '../errors.ts';
import type { Principal } from '../http/principal.ts';

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
