import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import { attestedText } from '../../../src/platform/agents/actions/report.ts';
import { findAgent } from '../../../src/platform/agents/agent-rows.ts';
import { boundToAgent } from '../../../src/platform/agents/entries.ts';
import { ledgerLinesOf } from '../../../src/platform/agents/trust/trust-rows.ts';
import { type ActionContent, newActionSchema, newOutcomeSchema } from '../../../src/platform/agents/wire/actions.ts';
import { type AgentRegistration, agentRegistrationSchema } from '../../../src/platform/agents/wire/agents.ts';
import type { Principal } from '../../../src/platform/http/principal.ts';
import { SOMEBODY } from '../world.ts';
import { AGENT, type AgentPlace } from './agent-place.ts';
import { replay } from './trust/replay.ts';

/** An action that `AGENT` is allowed to take. */
export const SEARCH = { action_type: 'tool_call', action_description: 'looks something up', tool_used: 'search' };

const KEYS = { EdDSA: 'ed25519', 'ML-DSA-65': 'ml_dsa_65' } as const;
type Algorithm = keyof typeof KEYS;

/** An agent with its keys. */
export class ActingAgent {
  readonly at: AgentPlace;
  readonly id: string;
  #keys: Readonly<Record<Algorithm, KeyObject>> | null = null;

  private constructor(at: AgentPlace, id: string) {
    this.at = at;
    this.id = id;
  }

  static async onboarded(at: AgentPlace, more: Partial<AgentRegistration> = {}): Promise<ActingAgent> {
    const input = agentRegistrationSchema.parse({ ...AGENT, ...more });
    const { agent_id } = await at.service.agents.register(SOMEBODY, input, undefined);
    const agent = new ActingAgent(at, agent_id);
    await agent.onboard();
    return agent;
  }

  async onboard(): Promise<void> {
    const { quantum_identity } = await this.at.service.onboarding.onboard(SOMEBODY, this.id, undefined);
    const keys = quantum_identity.private_keys_once as Record<string, string>;
    const read = (algorithm: Algorithm) => createPrivateKey(keys[KEYS[algorithm]] ?? '');
    this.#keys = { EdDSA: read('EdDSA'), 'ML-DSA-65': read('ML-DSA-65') };
  }

  /** Principal of the key from the agent's onboarding. */
  get principal(): Principal {
    return { kind: 'key', id: 'k', name: 'a key', scopes: ['agents:act'], boundTo: boundToAgent(this.id) };
  }

  /** Returns a signed action. @param signed content to sign, if it differs from the content sent. */
  attested(content: ActionContent, { algorithm = 'EdDSA', ...more }: Partial<Attested> = {}, signed = content) {
    const { action_id = randomUUID(), signed_at = new Date(this.at.now).toISOString() } = more;
    if (this.#keys === null) throw new Error('an agent without keys cannot sign');
    const text = attestedText(this.id, { action_id, signed_at }, signed);
    const signature = sign(null, Buffer.from(text), this.#keys[algorithm]).toString('base64url');
    return { ...content, attestation: { action_id, signed_at, algorithm, signature } };
  }

  /** Reports an action unchanged. */
  log(action: object, { principal = this.principal, key }: { principal?: Principal; key?: string } = {}) {
    return this.at.service.actions.log(principal, this.id, newActionSchema.parse(action), key);
  }

  /** Signs and reports an action. */
  act(content: Partial<ActionContent> = {}, more: Partial<Attested> = {}) {
    return this.log(this.attested({ ...SEARCH, ...content }, more));
  }

  outcome(actionId: string, said: object) {
    return this.at.service.actions.outcome(this.principal, this.id, actionId, newOutcomeSchema.parse(said));
  }

  row() {
    return findAgent(this.at.database, this.id);
  }

  /** Returns the agent's ledger, oldest first. @throws Error unless replaying the ledger gives the displayed score. */
  async ledger() {
    const row = await this.row();
    const lines = (await ledgerLinesOf(this.at.database, row, { limit: 100_000 })).reverse();
    const { scores, faults } = replay(lines);
    if (faults.length > 0) throw new Error(JSON.stringify(faults));
    if (scores.at(-1) !== row.score || lines.length !== row.ledger_length)
      throw new Error(`the ledger leads to ${scores.at(-1)} in ${lines.length} lines, and ${row.score} is shown`);
    return lines;
  }

  /** Returns the entries of the agent's stream, oldest first. */
  entries() {
    return this.at.entries(this.id);
  }
}

interface Attested {
  algorithm: Algorithm;
  action_id: string;
  signed_at: string;
}
