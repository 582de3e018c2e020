import type { KillDeps } from '../../../../src/platform/agents/deps.ts';
import type { KillStepName } from '../../../../src/platform/agents/enums.ts';
import { Issuer } from '../../../../src/platform/agents/identity/issuer.ts';
import { KillSwitch } from '../../../../src/platform/agents/kill/kill-switch.ts';
import { type KillStep, killSteps } from '../../../../src/platform/agents/kill/steps.ts';
import { TrustWriter } from '../../../../src/platform/agents/trust/families.ts';
import type { WireKill } from '../../../../src/platform/agents/wire/kill.ts';
import { Dispatcher } from '../../../../src/platform/outgoing/dispatcher.ts';
import { SOMEBODY } from '../../world.ts';
import type { AgentPlace } from '../agent-place.ts';

/** Returns the dependencies of a test's kill switch. */
export function killMeansOf(place: AgentPlace, more: Partial<KillDeps> = {}): KillDeps {
  const issuer = new Issuer(place.deps, place.authorityBox);
  return {
    ...place.deps,
    issuer,
    trust: new TrustWriter(place.deps, issuer),
    dispatcher: new Dispatcher(),
    askPublic: (agentId) => place.isValid(agentId),
    ...more,
  };
}

/** Gives a step enough time on a busy machine. */
export function patient<Step extends KillStep>(step: Step): Step {
  return { ...step, deadlineMs: 60_000 };
}

/** Creates a kill switch with changed steps. */
export function killSwitchOf(place: AgentPlace, change: (step: KillStep) => KillStep = (step) => step): KillSwitch {
  const deps = killMeansOf(place);
  return new KillSwitch(
    deps,
    killSteps(deps).map((step) => change(patient(step))),
  );
}

/** Changes one step. */
export function withStep(name: KillStepName, change: (step: KillStep) => KillStep): (step: KillStep) => KillStep {
  return (step) => (step.name === name ? change(step) : step);
}

export function stop(kill: KillSwitch, agentId: string, mode: 'suspend' | 'revoke' = 'suspend'): Promise<WireKill> {
  return kill.stop(SOMEBODY, agentId, { mode, reason: 'a test' });
}

/** Returns the results of an agent's steps. */
export function resultsOf(receipt: WireKill, agentId = receipt.agent_id): Record<string, string | null> {
  const own = receipt.agents.find(({ agent_id }) => agent_id === agentId);
  return Object.fromEntries((own?.steps ?? []).map(({ step, result }) => [step, result]));
}

/** Results of steps without a fault. */
export const ALL_DONE = {
  agent_state: 'completed',
  passport_status: 'completed',
  certificates: 'completed',
  api_keys: 'completed',
  vault_leases: 'completed',
  subscribers: 'completed',
  public_verification: 'completed',
  linked_iam_apps: 'not_available',
  vault_lock: 'not_available',
};
