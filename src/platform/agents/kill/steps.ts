import { agree, plural } from '../../../core/plurals.ts';
import { revokeBoundKeys } from '../../accounts/api.ts';
import type { Transaction } from '../../database/database.ts';
import { changeAgent, findAgent, lockAgent } from '../agent-rows.ts';
import type { KillDeps } from '../deps.ts';
import { boundToAgent } from '../entries.ts';
import type { KillMode, KillStepName } from '../enums.ts';
import { changePassport, currentIdentity, revokeCertificates } from '../identity/identity-rows.ts';
import { endLeases } from '../vault/vault-rows.ts';
import type { FlipWatch } from './asking.ts';
import type { Kill, StepEnd } from './kill-rows.ts';
import { notifySubscribers } from './subscribers.ts';

interface StepSubject {
  kill: Pick<Kill, 'kill_no' | 'kill_id' | 'mode' | 'started_by'>;
  agentId: string;
  watch: Pick<FlipWatch, 'flipped'>;
}

/** Step of the kill switch. */
export type KillStep = {
  name: KillStepName;
  /** Time limit of the step. */
  deadlineMs: number;
} & (
  | {
      /** Acts in the transaction that records how the step ended. */
      act(transaction: Transaction, subject: StepSubject): Promise<StepEnd>;
    }
  | {
      /** Observes outside any transaction. */
      look(subject: StepSubject): Promise<StepEnd>;
    }
);

const DEADLINE_MS = 3000;
const ASKING_MS = 5000;
/** Part of the deadline that is reserved for reporting why the change was not seen. */
const SAYING_MS = 500;

/** Returns all steps in order. */
export function killSteps(deps: KillDeps): readonly KillStep[] {
  const acts = [
    ['agent_state', stopAgent],
    ['passport_status', endPassport],
    ['certificates', revokeBoth],
    ['api_keys', endKeys],
    ['vault_leases', endAgentLeases],
    ['subscribers', notifyOfKill],
  ] as const;
  return [
    ...acts.map(
      ([name, act]): KillStep => ({
        name,
        deadlineMs: DEADLINE_MS,
        act: (transaction, subject) => act(transaction, subject, deps),
      }),
    ),
    { name: 'public_verification', deadlineMs: ASKING_MS, look: lookFromOutside },
    notAvailable('linked_iam_apps', 'Disabling linked IAM apps is not available; they were not changed.'),
    notAvailable('vault_lock', 'Locking the vault is not available; the vault was not changed.'),
  ];
}

function notAvailable(name: KillStepName, detail: string): KillStep {
  return { name, deadlineMs: DEADLINE_MS, look: async () => ({ result: 'not_available', detail }) };
}

function completed(detail: string): StepEnd {
  return { result: 'completed', detail };
}

type Act = (transaction: Transaction, subject: StepSubject, deps: KillDeps) => Promise<StepEnd>;

const STATES = { suspend: 'suspended', revoke: 'revoked' } as const satisfies Record<KillMode, string>;

const stopAgent: Act = async (transaction, { kill: { mode }, agentId }, { clock }) => {
  const agent = await lockAgent(transaction, agentId);
  if (agent.state === 'revoked') return completed('The agent was already revoked.');
  const state = STATES[mode];
  const suspended_because = mode === 'suspend' ? 'kill_switch' : null;
  const since = agent.state === state ? {} : { state_changed_at: clock().toISOString() };
  await changeAgent(transaction, agent, { state, suspended_because, ...since });
  return completed(
    agent.state === state ? `The agent was already ${state}.` : `The agent was ${agent.state} and is now ${state}.`,
  );
};

const endPassport: Act = async (transaction, { kill: { mode }, agentId }, { clock }) => {
  const agent = await lockAgent(transaction, agentId);
  const identity = await currentIdentity(transaction, agent.agent_no);
  if (identity === null) return completed('The agent has no passport: it was never onboarded.');
  const { passport_status: before } = identity;
  const after = STATES[mode];
  if (before === 'revoked' || before === after) return completed(`The passport was already ${before}.`);
  await changePassport(transaction, identity, after, clock());
  return completed(`The passport was ${before} and is now ${after}.`);
};

/** Reasons of RFC 5280 section 5.3.1. */
const REASONS = { suspend: 'certificateHold', revoke: 'cessationOfOperation' } as const;

const revokeBoth: Act = async (transaction, { kill: { mode }, agentId }, { clock }) => {
  const agent = await lockAgent(transaction, agentId);
  const identity = await currentIdentity(transaction, agent.agent_no);
  if (identity === null) return completed('The agent has no certificates: it was never onboarded.');
  const changed = await revokeCertificates(transaction, identity, { reason: REASONS[mode], now: clock() });
  return completed(
    changed.length === 0
      ? 'Both certificates were already in the revocation lists.'
      : `${plural(changed.length, 'certificate')} ${agree(changed.length, 'is', 'are')} in the revocation lists: ${REASONS[mode]}.`,
  );
};

const endKeys: Act = async (transaction, { kill: { mode, started_by }, agentId }, { clock, administration }) => {
  if (mode === 'suspend')
    return completed('Keys bound to the agent are not revoked: their use is refused and recorded.');
  const issuing = { actor: { name: started_by, scopes: [] }, now: clock(), administration };
  const revoked = await revokeBoundKeys(transaction, boundToAgent(agentId), issuing);
  return completed(
    revoked.length === 0
      ? 'No valid key was bound to the agent.'
      : `${plural(revoked.length, 'key')} ${agree(revoked.length, 'was', 'were')} revoked.`,
  );
};

const endAgentLeases: Act = async (transaction, { kill: { kill_id }, agentId }, { clock }) => {
  const agent = await findAgent(transaction, agentId);
  const { ended, handed_out } = await endLeases(transaction, agent, { because: `kill ${kill_id}`, now: clock() });
  if (handed_out.length === 0) return completed('No leases of the vault were active.');
  return completed(
    `${plural(ended, 'lease')} ${agree(ended, 'was', 'were')} ended. Values that were handed out cannot be recalled; change these secrets: ${handed_out.join(', ')}.`,
  );
};

const notifyOfKill: Act = async (transaction, { kill, agentId }, deps) => {
  const agent = await findAgent(transaction, agentId);
  const told = await notifySubscribers(transaction, deps, { agent, kill, event: STATES[kill.mode] });
  if (told === 0) return completed('There are no subscribers.');
  return completed(
    `${plural(told, 'Security Event Token')} ${agree(told, 'is', 'are')} signed and queued. Deliveries are listed below.`,
  );
};

async function lookFromOutside({ agentId, watch }: StepSubject): Promise<StepEnd> {
  const seen = await watch.flipped(agentId, ASKING_MS - SAYING_MS);
  if (!(seen instanceof Date)) return { result: 'failed', detail: seen.why };
  const detail = 'Public verification, requested without a key, reports the agent as not valid.';
  return { result: 'completed', detail, flippedAt: seen };
}
