import { agree, plural } from '../../../core/plurals.ts';
import type { Transaction } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import type { Actor } from '../../http/principal.ts';
import { type Agent, changeAgent, descendantsOf, findAgent, lockAgent } from '../agent-rows.ts';
import type { KillDeps } from '../deps.ts';
import { entryOfAgent, writeEntries } from '../entries.ts';
import type { PassportStatus } from '../enums.ts';
import { changePassport, currentIdentity, liftHold } from '../identity/identity-rows.ts';
import type { Reinstated } from '../wire/kill.ts';
import { runningKillOf } from './kill-rows.ts';
import { notifySubscribers } from './subscribers.ts';

/**
 * Reinstates a suspended agent with little trust. Its children keep their states.
 * @throws DomainError `not_found`; `conflict` if the agent is not suspended, its parent is not active, or a kill switch
 * is still running on it.
 */
export function reinstateAgent(
  deps: KillDeps,
  actor: Actor,
  agentId: string,
  { reason }: { reason: string },
): Promise<Reinstated> {
  return deps.database.write(async (transaction) => {
    const agent = await lockAgent(transaction, agentId);
    await refuseUnready(transaction, agent);
    const { entries, before, after, tier, reasons } = await deps.trust.note(transaction, agentId, {
      rule: 'reinstated',
      detail: { reason },
    });
    const now = deps.clock();
    const state = agent.onboarded_at === null ? 'registered' : 'active';
    const change = { state, suspended_because: null, state_changed_at: now.toISOString() } as const;
    await changeAgent(transaction, agent, change);
    const passport_status = await restoreIdentity(transaction, agent, now);
    await notifySubscribers(transaction, deps, { agent, kill: null, event: 'reinstated' });
    const children = await descendantsOf(transaction, agent);
    const more = { reason, state, passport_status, because_was: agent.suspended_because };
    await writeEntries(deps.log, transaction, [...entries, entryOfAgent(actor, agent, 'agent.reinstated', more)]);
    return {
      agent_id: agentId,
      state,
      reinstated_at: now.toISOString(),
      passport_status,
      trust: { before, after, tier, reasons },
      children: children.map((child) => ({ agent_id: child.agent_id, state: child.state })),
      message: messageOf(agent, children),
    };
  });
}

async function refuseUnready(transaction: Transaction, agent: Agent): Promise<void> {
  if (agent.state === 'revoked')
    throw new DomainError('conflict', 'the agent is permanently revoked; register another one');
  if (agent.state !== 'suspended')
    throw new DomainError('conflict', `the agent is ${agent.state}; only a suspended agent can be reinstated`);
  const kill = await runningKillOf(transaction, agent);
  if (kill !== undefined)
    throw new DomainError(
      'conflict',
      `the kill switch is still running on the agent (${kill.kill_id}); reinstate the agent when it is finished`,
    );
  if (agent.parent_agent_id === null) return;
  const { state } = await findAgent(transaction, agent.parent_agent_id);
  if (state !== 'active')
    throw new DomainError('conflict', `the agent that delegates to it is ${state}; reinstate that agent first`);
}

/**
 * Restores the passport, unless it states another composition; such a passport stays suspended until the next
 * onboarding.
 */
async function restoreIdentity(transaction: Transaction, agent: Agent, now: Date): Promise<PassportStatus | null> {
  const identity = await currentIdentity(transaction, agent.agent_no);
  if (identity === null) return null;
  await liftHold(transaction, identity);
  if (identity.passport_status !== 'suspended' || agent.composition_changed_at !== null)
    return identity.passport_status;
  await changePassport(transaction, identity, 'valid', now);
  return 'valid';
}

function messageOf({ composition_changed_at, onboarded_at }: Agent, children: readonly Agent[]): string {
  const stopped = children.filter(({ state }) => state === 'suspended').length;
  const parts = [
    onboarded_at === null ? 'The agent is registered but has no identity yet: onboard it.' : 'The agent may act again.',
    composition_changed_at === null
      ? ''
      : 'Its composition changed, so its passport stays suspended until the agent is onboarded again.',
    stopped === 0
      ? ''
      : `${plural(stopped, 'agent')} that it delegates to ${agree(stopped, 'stays', 'stay')} suspended: reinstate each one separately.`,
    'Agents that it delegates to are not reinstated with it.',
  ];
  return parts.filter((part) => part !== '').join(' ');
}
