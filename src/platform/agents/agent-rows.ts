import type { Selectable } from 'kysely';
import { sha256 } from '../../core/digest.ts';
import { canonicalize } from '../../core/json/canonical.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { rowChanger, rowFinder } from '../rows.ts';
import { streamOfAgent } from './enums.ts';
import { type AgentIdentity, currentIdentities } from './identity/identity-rows.ts';
import { AGENT_TABLES, type AgentTables } from './tables.ts';
import type { WireAgent } from './wire/agents.ts';

export type Agent = Selectable<AgentTables['agents']>;

/** @throws DomainError `not_found`. */
export const findAgent = rowFinder(AGENT_TABLES, 'agents', 'agent_id', { missing: 'no agent has this ID' });

/**
 * Returns an agent and locks its family until the transaction ends. A family is locked by the row of its root, so that
 * changes within a family are serialized. A transaction that locks several families must lock them in the order of
 * their roots' ids.
 * @throws DomainError `not_found`.
 */
export async function lockAgent(transaction: Transaction, agentId: string): Promise<Agent> {
  // The root of a family never changes.
  const { root_agent_id } = await findAgent(transaction, agentId);
  await lockRoot(transaction, root_agent_id);
  return findAgent(transaction, agentId);
}

/** Locks a family by the id of its root. */
async function lockRoot(transaction: Transaction, rootAgentId: string): Promise<void> {
  const agents = transaction.tables<AgentTables>().selectFrom('agents').select('agent_no');
  await agents.where('agent_id', '=', rootAgentId).modifyEnd(transaction.sql.locked).executeTakeFirstOrThrow();
}

/** Returns all agents to which an agent delegates, directly or indirectly, each after its parent. */
export async function descendantsOf(reader: Reader, { agent_id, root_agent_id }: Agent): Promise<Agent[]> {
  const agents = reader.tables<AgentTables>().selectFrom('agents').selectAll();
  const family = await agents.where('root_agent_id', '=', root_agent_id).orderBy('agent_no').execute();
  const below = new Set([agent_id]);
  // Parents are registered before their children.
  return family.filter((agent) => {
    const isBelow = agent.parent_agent_id !== null && below.has(agent.parent_agent_id);
    if (isBelow) below.add(agent.agent_id);
    return isBelow;
  });
}

export const changeAgent = rowChanger(AGENT_TABLES, 'agents', 'agent_no');

/** Composition of an agent, which defines its identity: with another composition, it is another agent. */
type Composition = Pick<WireAgent, 'model' | 'version' | 'allowed_tools' | 'allowed_apis' | 'prompt_sha256'>;

/** Returns the hex SHA-256 over the RFC 8785 form, with names sorted and unique, and without an unknown prompt. */
export function compositionDigest({ model, version, allowed_tools, allowed_apis, prompt_sha256 }: Composition): string {
  const prompt = prompt_sha256 === null ? {} : { prompt_sha256 };
  const allowed = { allowed_tools: sortedNames(allowed_tools), allowed_apis: sortedNames(allowed_apis) };
  return sha256(canonicalize({ model, version, ...allowed, ...prompt }));
}

/** Returns the names sorted by UTF-16 code units, as RFC 8785 sorts members, without duplicates. */
export function sortedNames(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

export function compositionOf(agent: Agent): Composition {
  const { model, version, prompt_sha256 } = agent;
  return { model, version, prompt_sha256, ...allowancesOf(agent) };
}

/** Returns the tools and APIs that an agent may use. */
export function allowancesOf({ allowed_tools, allowed_apis }: Pick<Agent, 'allowed_tools' | 'allowed_apis'>) {
  return { allowed_tools: JSON.parse(allowed_tools) as string[], allowed_apis: JSON.parse(allowed_apis) as string[] };
}

/** Converts agents to their wire form for callers who may read them. */
export async function agentsToWire(reader: Reader, agents: readonly Agent[]): Promise<WireAgent[]> {
  const identities = await newestIdentities(reader, agents);
  const children = await childrenOf(reader, agents);
  return agents.map((agent) => {
    const { agent_id, agent_no } = agent;
    const identity = identities.get(agent_no) ?? null;
    return {
      ...pick(agent, ['agent_id', 'name', 'agent_type', 'model', 'version', 'prompt_sha256', 'parent_agent_id']),
      ...pick(agent, ['state', 'suspended_because', 'state_changed_at', 'score', 'tier']),
      ...pick(agent, ['registered_at', 'registered_by', 'onboarded_at']),
      ...allowancesOf(agent),
      composition: { sha256: agent.composition, changed_at: agent.composition_changed_at },
      children: children.get(agent_id) ?? [],
      identity: identity === null ? null : identityToWire(identity),
      audit_stream: { stream_id: streamOfAgent(agent_id) },
      message: messageOf(agent),
    };
  });
}

function identityToWire(identity: AgentIdentity): NonNullable<WireAgent['identity']> {
  const { ecdsa_serial, ecdsa_pem, ml_dsa_65_serial, ml_dsa_65_pem, not_after } = identity;
  const { passport_jti, passport_jws, passport_status, status_changed_at } = identity;
  return {
    ...pick(identity, ['did', 'composition', 'key_id', 'issued_at']),
    public_keys: JSON.parse(identity.public_keys) as NonNullable<WireAgent['identity']>['public_keys'],
    certificate: {
      serial: ecdsa_serial,
      not_after,
      pem: ecdsa_pem,
      pq: { serial: ml_dsa_65_serial, pem: ml_dsa_65_pem },
    },
    passport: { jti: passport_jti, jws: passport_jws, status: passport_status, status_changed_at },
  };
}

async function newestIdentities(reader: Reader, agents: readonly Agent[]): Promise<Map<number, AgentIdentity>> {
  const numbers = agents.map(({ agent_no }) => agent_no);
  const rows = await currentIdentities(reader, numbers).selectAll().execute();
  return new Map(rows.map((row) => [row.agent_no, row]));
}

async function childrenOf(reader: Reader, agents: readonly Agent[]): Promise<Map<string, WireAgent['children']>> {
  if (agents.length === 0) return new Map();
  const ids = agents.map(({ agent_id }) => agent_id);
  const rows = await reader
    .tables<AgentTables>()
    .selectFrom('agents')
    .select(['parent_agent_id', 'agent_id', 'name', 'state', 'score', 'tier'])
    .where(reader.sql.isAmong('parent_agent_id', ids))
    .orderBy('agent_no')
    .execute();
  const byParent = Map.groupBy(rows, ({ parent_agent_id }) => parent_agent_id ?? '');
  return new Map(
    [...byParent].map(([id, own]) => [
      id,
      own.map((child) => pick(child, ['agent_id', 'name', 'state', 'score', 'tier'])),
    ]),
  );
}

function messageOf(agent: Agent): string {
  return [standingOf(agent), ...denialsOf(agent)].join(' ');
}

function standingOf({ state, suspended_because, composition_changed_at }: Agent): string {
  if (state === 'registered') return 'It has no identity yet: onboard it.';
  if (state === 'revoked') return 'It is permanently revoked.';
  if (state === 'suspended' && suspended_because === 'auto')
    return 'It is suspended because its score fell to 20 or less. It can be reinstated.';
  if (state === 'suspended' && suspended_because === 'parent')
    return 'It is suspended because the score of the agent that delegates to it fell to 20 or less. Reinstate that agent first.';
  if (state === 'suspended') return 'It is suspended by the kill switch. It can be reinstated.';
  if (composition_changed_at !== null)
    return 'It differs from what was onboarded: its passport is suspended, and its tier is at most MONITOR, until it is onboarded again.';
  return 'It is active.';
}

/** Returns notes about empty allowances, which deny everything, so that no one has to guess. */
function denialsOf(agent: Agent): string[] {
  const { allowed_tools, allowed_apis } = allowancesOf(agent);
  return [
    ...(allowed_tools.length === 0 ? ['allowed_tools is empty, so every use of a tool is a violation.'] : []),
    ...(allowed_apis.length === 0 ? ['allowed_apis is empty, so every call of an API is a violation.'] : []),
  ];
}
