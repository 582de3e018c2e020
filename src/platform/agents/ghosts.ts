import type { Json } from '../../core/json/canonical.ts';
import type { Transaction } from '../database/database.ts';
import type { Agent } from './agent-rows.ts';
import { alertOfAgent } from './alerting.ts';
import type { AgentServiceDeps, IssuerPort, TrustChange, TrustPort } from './deps.ts';
import type { AgentEntry } from './entries.ts';
import { tierOf } from './enums.ts';

/** Observation of an agent that differs from what was onboarded. */
interface GhostSighting {
  actor: string;
  /** Observed values that differ. */
  observed: { [name: string]: Json };
  /** End of a sentence, after "its passport is suspended:". */
  because: string;
  action_id?: string | undefined;
}

export interface GhostPorts {
  trust: TrustPort;
  issuer: Pick<IssuerPort, 'suspendPassport'>;
}

/**
 * Suspends the passport of an agent that differs from what was onboarded, and caps its tier until it is onboarded
 * again. Repeated observations change nothing, and neither does one of an agent without a passport.
 * @param agent of a locked family.
 */
export async function noteGhost(
  transaction: Transaction,
  { alerts }: Pick<AgentServiceDeps, 'alerts'>,
  { trust, issuer }: GhostPorts,
  agent: Agent,
  { actor, observed, because, action_id }: GhostSighting,
): Promise<TrustChange> {
  const { agent_id: agentId, score } = agent;
  if (agent.onboarded_at === null || agent.composition_changed_at !== null)
    return { before: score, after: score, tier: tierOf(score), reasons: [], entries: [] };
  const detail = { ...observed, because };
  const jti = await issuer.suspendPassport(transaction, agent);
  const change = await trust.note(transaction, agentId, {
    rule: 'composition_changed',
    detail,
    ...(action_id !== undefined && { action_id }),
  });
  await alerts.notify(
    transaction,
    alertOfAgent('agent.composition_changed', { agent_id: agentId, what: jti ?? agentId }),
  );
  const suspended: AgentEntry[] =
    jti === null
      ? []
      : [{ agentId, actor, action: 'passport.suspended', of: ['passport', jti], more: { because, observed } }];
  return { ...change, entries: [...suspended, ...change.entries] };
}
