import { randomUUID } from 'node:crypto';
import type { Agent } from '../agent-rows.ts';
import { allowancesOf } from '../composition.ts';
import type { ActionDecision, TrustRuleName } from '../enums.ts';
import type { AgentDecoy } from '../vault/decoy-rows.ts';
import type { ActionContent, Violation } from '../wire/actions.ts';
import { type ActionReport, actionIdOf } from './report.ts';

/** The members of an action that can violate its agent's rights. */
type JudgedContent = Omit<ActionContent, 'action_type' | 'action_description'>;

/** Facts about an action beyond its content. */
export interface ActionFacts {
  /** The fault of its signature; null for a good one or none. */
  badSignature: string | null;
  /** The decoy that its tool is, which nobody has a reason to use. */
  decoy: AgentDecoy | null;
}

export interface JudgedAction {
  /** The agent's own where the action is attested. */
  action_id: string;
  decision: ActionDecision;
  violations: Violation[];
  isAttested: boolean;
  decoy: AgentDecoy | null;
}

export function judge(agent: Agent, { content, attestation }: ActionReport, facts: ActionFacts): JudgedAction {
  const violations = violationsOf(agent, content, facts);
  const isAttested = attestation !== null && facts.badSignature === null;
  const action_id = isAttested ? actionIdOf(attestation) : randomUUID();
  const decision = violations.length > 0 ? 'violation' : 'allowed';
  return { action_id, decision, violations, isAttested, decoy: facts.decoy };
}

const SHA256 = /^[0-9a-f]{64}$/i;

/** Lists the rights that an action violates, each of them once. */
export function violationsOf(agent: Agent, action: JudgedContent, facts: ActionFacts): Violation[] {
  const { allowed_tools, allowed_apis } = allowancesOf(agent);
  const { tool_used: tool, api_called: api } = action;
  const violations: Violation[] = [];
  const add = (rule: TrustRuleName, message: string) => violations.push({ rule, message });
  const ghost = otherThanRegistered(agent, action);
  if (ghost !== null) add('composition_changed', ghost.because);
  if (facts.badSignature !== null) add('bad_signature', facts.badSignature);
  if (facts.decoy !== null) add('decoy_used', `the tool ${facts.decoy.name} is a decoy`);
  else if (tool !== undefined && !allowed_tools.includes(tool)) add('tool_outside', `the tool ${tool} is not allowed`);
  if (api !== undefined && !allowed_apis.includes(api.toLowerCase()))
    add('api_outside', `the API ${api} is not allowed`);
  for (const name of ['input_hash', 'output_hash'] as const)
    if (action[name] !== undefined && !SHA256.test(action[name]))
      add('malformed_hash', `${name} is not SHA-256 as 64 hexadecimal digits`);
  return violations;
}

/** Says how an action shows another agent than was onboarded; null if it does not. */
export function otherThanRegistered(
  agent: Pick<Agent, 'onboarded_at' | 'model' | 'version'>,
  action: JudgedContent,
): { observed: { [name: string]: string }; because: string } | null {
  if (agent.onboarded_at === null) return null;
  const observed: { [name: string]: string } = {};
  const sentences: string[] = [];
  for (const name of ['model', 'version'] as const) {
    const said = action[name];
    if (said === undefined || said === agent[name]) continue;
    observed[name] = said;
    sentences.push(`an action says ${name} ${said}, and ${agent[name]} is registered`);
  }
  return sentences.length === 0 ? null : { observed, because: sentences.join('; ') };
}
