import { randomUUID } from 'node:crypto';
import type { Transaction } from '../../database/database.ts';
import { type Agent, allowancesOf } from '../agent-rows.ts';
import type { AgentServiceDeps, IssuerPort, TrustChange } from '../deps.ts';
import type { ActionDecision, TrustRuleName } from '../enums.ts';
import { noteGhost } from '../ghosts.ts';
import type { FamilyLedgers, LedgerChange, TrustWriter } from '../trust/families.ts';
import { EARNS_NOTHING } from '../trust/reasons.ts';
import type { AgentDecoy } from '../vault/decoys.ts';
import type { Vaults } from '../vault/vaults.ts';
import type { ActionContent, LoggedAction, Violation } from '../wire/actions.ts';
import type { NewAgentAction } from './action-rows.ts';
import { type ActionReport, actionIdOf, contentSha256 } from './report.ts';

/** Members of an action that can violate its agent's rights. */
type JudgedContent = Omit<ActionContent, 'action_type' | 'action_description'>;

/** Facts about an action beyond its content. */
export interface ActionFacts {
  /** Reason why the signature is bad; null if it is good or absent. */
  badSignature: string | null;
  /** Decoy that the tool is, which no task requires; null if the tool is none. */
  decoy: AgentDecoy | null;
}

export interface JudgedAction {
  /** Id chosen by the agent if the action is attested; else generated. */
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

/** Returns the rights that an action violates, each once. */
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
      add('malformed_hash', `${name} is not a SHA-256 in 64 hexadecimal digits`);
  return violations;
}

/** Returns the differences between the action and the onboarded agent; null if there are none. */
function otherThanRegistered(
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
    sentences.push(`an action states ${name} ${said}, but ${agent[name]} is registered`);
  }
  return sentences.length === 0 ? null : { observed, because: sentences.join('; ') };
}

export interface ActionDeps extends Pick<AgentServiceDeps, 'clock' | 'log' | 'alerts'> {
  trust: TrustWriter;
  issuer: Pick<IssuerPort, 'suspendPassport'>;
  vaults: Pick<Vaults, 'trip'>;
}

/** Notes an action in its agent's ledger: a line for each violation, or a point for an attested action without any. */
export async function noteJudged(
  transaction: Transaction,
  deps: ActionDeps,
  ledgers: FamilyLedgers,
  { agent, report, judged }: { agent: Agent; report: ActionReport; judged: JudgedAction },
): Promise<LedgerChange> {
  const { agent_id } = agent;
  const { action_id, violations, isAttested } = judged;
  const sum = nothingYet(agent);
  for (const { rule, message } of violations) {
    if (rule !== 'composition_changed') {
      add(sum, await ledgers.note(agent_id, { rule, action_id, detail: { message } }));
      continue;
    }
    const sighting = otherThanRegistered(agent, report.content);
    if (sighting === null) continue;
    const seen = { ...sighting, actor: report.actor, action_id };
    const ports = { trust: ledgers.port, issuer: deps.issuer };
    add(sum, { ...(await noteGhost(transaction, deps, ports, agent, seen)), lines: [] });
  }
  if (violations.length > 0) return sum;
  if (isAttested) add(sum, await ledgers.note(agent_id, { rule: 'attested_action', action_id }));
  else sum.reasons.push(EARNS_NOTHING.unattested);
  return sum;
}

/** Notes an action of an agent that may not act. A revoked agent no longer loses points. */
export async function noteAttempt(ledgers: FamilyLedgers, agent: Agent, action_id: string): Promise<LedgerChange> {
  if (agent.state === 'revoked') return nothingYet(agent);
  return ledgers.note(agent.agent_id, { rule: 'attempt_while_suspended', action_id });
}

function nothingYet({ score, tier }: Agent): LedgerChange {
  return { before: score, after: score, tier, reasons: [], entries: [], lines: [] };
}

/** Adds up several notes of one action. */
function add(sum: LedgerChange, { after, tier, reasons, entries, lines }: LedgerChange): void {
  Object.assign(sum, { after, tier });
  sum.reasons.push(...reasons);
  sum.entries.push(...entries);
  sum.lines.push(...lines);
}

/** Returns the row of an action, without the place of its entry. */
export function actionRowOf(
  { agent_no }: Agent,
  { actor, content, attestation }: ActionReport,
  { judged, change, now }: { judged: JudgedAction; change: TrustChange; now: Date },
): NewAgentAction {
  const { action_type, action_description, tool_used = null, api_called = null } = content;
  const { input_hash = null, output_hash = null, model = null, version = null } = content;
  const { action_id, decision, violations, isAttested } = judged;
  const { before: score_before, after: score_after, tier, reasons } = change;
  return {
    action_id,
    agent_no,
    received_at: now.toISOString(),
    reported_by: actor,
    action_type,
    action_description,
    tool_used,
    api_called,
    input_hash,
    output_hash,
    model,
    version,
    decision,
    violations: JSON.stringify(violations),
    attested: Number(isAttested),
    signed_at: attestation?.signed_at ?? null,
    algorithm: attestation?.algorithm ?? null,
    signature: attestation?.signature ?? null,
    content_sha256: contentSha256(content),
    score_before,
    score_after,
    tier,
    reasons: JSON.stringify(reasons),
    entry_sequence: 0,
    entry_hash: '',
  };
}

export function trustToWire({ before, after, tier, reasons }: TrustChange): LoggedAction['trust'] {
  return { before, after, tier, reasons };
}
