import { createKey, type IssuedKey, issueKey, issueOnce, type NewKey, revokeBoundKeys } from '../accounts/api.ts';
import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { Actor } from '../http/principal.ts';
import { type Agent, changeAgent, findAgent, lockAgent } from './agent-rows.ts';
import type { AgentServiceDeps, IssuedIdentity, IssuerPort, TrustPort } from './deps.ts';
import { boundToAgent, entryOfAgent, writeEntries } from './entries.ts';
import { streamOfAgent } from './enums.ts';
import type { Vaults } from './vault/vaults.ts';
import type { Onboarded } from './wire/agents.ts';

/** Parts of the service that an onboarding uses. */
interface OnboardingPorts {
  issuer: Pick<IssuerPort, 'issue'>;
  trust: TrustPort;
  vaults: Pick<Vaults, 'open'>;
}

const ONCE = 'The private keys and the API key are shown only once and are not stored here: store them now.';

/** Issues to agents everything that identifies them to others. */
export class Onboarding {
  readonly #deps: AgentServiceDeps;
  readonly #ports: OnboardingPorts;

  constructor(deps: AgentServiceDeps, ports: OnboardingPorts) {
    this.#deps = deps;
    this.#ports = ports;
  }

  /**
   * Issues an identity, certificates, a passport and an API key bound to the agent, and creates its vault. Repeating
   * the onboarding issues new ones and invalidates the old ones.
   * @throws DomainError `not_found`; `agent_suspended`, `agent_revoked`; `conflict` if the parent is not active;
   * `key_shown_before` for a repeated request.
   */
  async onboard(actor: Actor, agentId: string, idempotencyKey: string | undefined): Promise<Onboarded> {
    const { database, clock } = this.#deps;
    const now = clock();
    let parts: Omit<Onboarded, 'api_key' | 'message'> | undefined;
    const request = { scope: `agents/${agentId}/onboard`, body: {}, idempotencyKey, now };
    const { text } = await issueOnce(database, request, async (transaction) => {
      const made = await this.#onboardIn(transaction, actor, agentId, now);
      parts = made.parts;
      return made.issued;
    });
    if (parts === undefined) throw new Error('an onboarding issued nothing');
    return { ...parts, api_key: text, message: ONCE };
  }

  async #onboardIn(transaction: Transaction, actor: Actor, agentId: string, now: Date) {
    const { log } = this.#deps;
    const { issuer, trust, vaults } = this.#ports;
    const agent = await lockAgent(transaction, agentId);
    await refuseUnfit(transaction, agent);
    const key = createKey();
    const at = now.toISOString();
    const active = { state: 'active', state_changed_at: at, onboarded_at: agent.onboarded_at ?? at } as const;
    if (agent.state !== 'active') await changeAgent(transaction, agent, active);
    const identity = await issuer.issue(transaction, agent, key.id);
    const vault = await vaults.open(transaction, agent);
    const change = await trust.note(transaction, agentId, { rule: 'onboarded' });
    // Both streams are locked last, that of the administration before that of the agent.
    const issued = await this.#issueKey(transaction, actor, agent, { key, now });
    const more = { ...statedOf(agent, identity), vault_id: vault.vault_id, key_id: key.id };
    const entry = entryOfAgent(actor, agent, 'agent.onboarded', more);
    await writeEntries(log, transaction, [entry, ...change.entries]);
    return { issued, parts: { agent_id: agentId, ...identity, vault, audit_stream: this.#streamOf(agentId) } };
  }

  /** Issues the key of this agent and revokes its earlier keys. The right to onboard agents includes this. */
  async #issueKey(
    transaction: Transaction,
    { name: actor }: Actor,
    { agent_id, name }: Agent,
    { key: given, now }: { key: NewKey; now: Date },
  ): Promise<IssuedKey> {
    const { administration } = this.#deps;
    const scopes = ['agents:act'] as const;
    const issuing = { actor: { name: actor, scopes }, now, administration };
    const boundTo = boundToAgent(agent_id);
    await revokeBoundKeys(transaction, boundTo, issuing);
    const input = { name: `agent ${name}`, scopes, expiresAt: null, boundTo };
    return issueKey(transaction, input, { ...issuing, given });
  }

  #streamOf(agentId: string) {
    const stream_id = streamOfAgent(agentId);
    const query = new URLSearchParams({ stream_id });
    return { stream_id, entries_url: `${this.#deps.publicUrl()}/audit/entries/?${query}` };
  }
}

/** @throws DomainError */
async function refuseUnfit(transaction: Transaction, { state, parent_agent_id }: Agent): Promise<void> {
  if (state === 'revoked')
    throw new DomainError('agent_revoked', 'the agent is permanently revoked; register another one');
  if (state === 'suspended')
    throw new DomainError('agent_suspended', 'the agent is suspended; reinstate it first: POST …/reinstate');
  if (parent_agent_id === null) return;
  const parent = await findAgent(transaction, parent_agent_id);
  if (parent.state !== 'active')
    throw new DomainError('conflict', `the parent agent is ${parent.state}; only active agents can delegate`);
}

/** Returns the members of an identity that its entry has. */
function statedOf({ composition }: Agent, { certificate, passport, quantum_identity }: IssuedIdentity) {
  const { did, public_keys } = quantum_identity;
  return {
    did,
    public_keys,
    composition,
    passport_jti: passport.jti,
    certificate_serial: certificate.serial,
    pq_certificate_serial: certificate.pq.serial,
    not_after: certificate.not_after,
  };
}
