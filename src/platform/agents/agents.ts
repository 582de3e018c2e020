import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Json } from '../../core/json/canonical.ts';
import type { Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError } from '../errors.ts';
import { newestFirst } from '../http/newest-first.ts';
import type { Actor } from '../http/principal.ts';
import { keyedRequest, makeIdOnce } from '../idempotency/keyed-results.ts';
import { rowInserter } from '../rows.ts';
import {
  type Agent,
  agentsToWire,
  allowancesOf,
  changeAgent,
  compositionDigest,
  compositionOf,
  findAgent,
  lockAgent,
  sortedNames,
} from './agent-rows.ts';
import type { AgentServiceDeps } from './deps.ts';
import { type AgentEntry, entryOfAgent, writeEntries } from './entries.ts';
import { tierOf } from './enums.ts';
import { type GhostPorts, noteGhost } from './ghosts.ts';
import { AGENT_TABLES, type AgentTables } from './tables.ts';
import { decoyToolsOf } from './vault/decoys.ts';
import type { AgentPatch, AgentQuery, AgentRegistration, WireAgent } from './wire/agents.ts';

/** Agents, for routes and pages. */
export class Agents {
  readonly #deps: AgentServiceDeps;
  readonly #ports: GhostPorts;

  constructor(deps: AgentServiceDeps, ports: GhostPorts) {
    this.#deps = deps;
    this.#ports = ports;
  }

  /** @throws DomainError `not_found`, `conflict` for the parent; `idempotency_conflict`. */
  async register(actor: Actor, input: AgentRegistration, idempotencyKey: string | undefined): Promise<WireAgent> {
    const keyed = keyedRequest('agents', idempotencyKey, input);
    return this.find(await makeIdOnce(this.#deps, keyed, (transaction) => this.#insert(transaction, actor, input)));
  }

  /** Lists agents, newest first. @throws DomainError `invalid_cursor`. */
  async list({ limit, cursor, state, tier, q }: AgentQuery) {
    const { database } = this.#deps;
    let agents = database.tables<AgentTables>().selectFrom('agents').selectAll();
    if (state !== undefined) agents = agents.where('state', '=', state);
    if (tier !== undefined) agents = agents.where('tier', '=', tier);
    if (q !== undefined && q !== '') {
      const pattern = `%${q.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
      agents = agents.where(sql<boolean>`lower(name) LIKE ${pattern} ESCAPE '\\'`);
    }
    const numbered = { list: 'agents', table: 'agents', number: 'agent_no' } as const;
    const { page, next_cursor } = await newestFirst(agents, numbered, { limit, cursor });
    return { data: await agentsToWire(database, page), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async find(agentId: string): Promise<WireAgent> {
    const { database } = this.#deps;
    const [agent] = await agentsToWire(database, [await findAgent(database, agentId)]);
    if (agent === undefined) throw new Error('one agent became none');
    return agent;
  }

  /**
   * Changes the facts about an agent. If this changes its composition, its passport is suspended until it is onboarded
   * again. @throws DomainError `not_found`, `agent_revoked`; `conflict` for a tool that is one of its decoys.
   */
  async change(actor: Actor, agentId: string, patch: AgentPatch): Promise<WireAgent> {
    const { database, log } = this.#deps;
    await database.write(async (transaction) => {
      const agent = await lockAgent(transaction, agentId);
      if (agent.state === 'revoked')
        throw new DomainError('agent_revoked', 'the agent is permanently revoked; register another one');
      const changed = changedBy(agent, patch);
      if (Object.keys(changed).length === 0) return;
      if (patch.allowed_tools !== undefined) await refuseDecoys(transaction, agent, patch.allowed_tools);
      await changeAgent(transaction, agent, changed);
      const entries = [changeEntry(actor, agent, changed)];
      if (changed.composition !== undefined && changed.composition !== agent.composition) {
        const because = 'its composition was changed';
        const ghost = { actor: actor.name, observed: observedOf(changed), because };
        const now = { ...agent, ...changed };
        entries.push(...(await noteGhost(transaction, this.#deps, this.#ports, now, ghost)).entries);
      }
      await writeEntries(log, transaction, entries);
    });
    return this.find(agentId);
  }

  async #insert(transaction: Transaction, actor: Actor, input: AgentRegistration): Promise<string> {
    const { clock, log } = this.#deps;
    const parent = input.parent_agent_id === null ? null : await lockParent(transaction, input.parent_agent_id);
    const agent = await insertAgent(transaction, newAgent(actor, input, parent, clock()));
    const { agent_id: agentId } = agent;
    const change = await this.#ports.trust.note(transaction, agentId, { rule: 'registered' });
    const stated = [
      'name',
      'agent_type',
      'model',
      'version',
      'prompt_sha256',
      'composition',
      'parent_agent_id',
    ] as const;
    const more = { ...pick(agent, stated), ...allowancesOf(agent) };
    const registered = entryOfAgent(actor, agent, 'agent.registered', more);
    await writeEntries(log, transaction, [registered, ...change.entries]);
    return agentId;
  }
}

/** Refuses tools that are decoys, because each use would be a detection. @throws DomainError `conflict`. */
async function refuseDecoys(transaction: Transaction, { agent_no }: Agent, tools: readonly string[]): Promise<void> {
  const decoys = (await decoyToolsOf(transaction, [agent_no])).get(agent_no);
  const taken = tools.find((tool) => decoys?.has(tool));
  if (taken !== undefined)
    throw new DomainError('conflict', `allowed_tools: "${taken}" is a decoy of the agent; remove it first`);
}

/** @throws DomainError `not_found`, `conflict`. */
async function lockParent(transaction: Transaction, parentId: string): Promise<Agent> {
  const parent = await lockAgent(transaction, parentId);
  if (parent.state !== 'active')
    throw new DomainError('conflict', `the parent agent is ${parent.state}; only active agents can delegate`);
  return parent;
}

function newAgent(
  { name: registered_by }: Actor,
  { allowed_tools, allowed_apis, ...input }: AgentRegistration,
  parent: Agent | null,
  at: Date,
) {
  const agent_id = randomUUID();
  const now = at.toISOString();
  const tools = sortedNames(allowed_tools);
  const apis = sortedNames(allowed_apis);
  return {
    ...input,
    agent_id,
    allowed_tools: JSON.stringify(tools),
    allowed_apis: JSON.stringify(apis),
    composition: compositionDigest({ ...input, allowed_tools: tools, allowed_apis: apis }),
    root_agent_id: parent?.root_agent_id ?? agent_id,
    state: 'registered' as const,
    state_changed_at: now,
    registered_at: now,
    registered_by,
    // Columns that only the trust ledger writes from here on.
    score: 0,
    tier: tierOf(0),
    ledger_length: 0,
    attested_points: 0,
    actions: 0,
  };
}

const insertAgent = rowInserter(AGENT_TABLES, 'agents');

/** Returns the columns that a patch changes, including the composition if it differs. */
function changedBy(agent: Agent, { allowed_tools, allowed_apis, ...patch }: AgentPatch): Partial<Agent> {
  const changes = {
    ...patch,
    ...(allowed_tools && { allowed_tools: JSON.stringify(sortedNames(allowed_tools)) }),
    ...(allowed_apis && { allowed_apis: JSON.stringify(sortedNames(allowed_apis)) }),
  };
  const isOther = ([name, value]: [string, unknown]) => value !== undefined && value !== agent[name as keyof Agent];
  const changed = Object.fromEntries(Object.entries(changes).filter(isOther)) as Partial<Agent>;
  const composition = compositionDigest(compositionOf({ ...agent, ...changed }));
  return composition === agent.composition ? changed : { ...changed, composition };
}

function changeEntry(actor: Actor, agent: Agent, changed: Partial<Agent>): AgentEntry {
  const before = Object.fromEntries(Object.keys(changed).map((name) => [name, agent[name as keyof Agent]]));
  return entryOfAgent(actor, agent, 'agent.changed', { before: observedOf(before), after: observedOf(changed) });
}

/** Converts columns for an entry. */
function observedOf({ allowed_tools, allowed_apis, ...others }: Partial<Agent>): { [name: string]: Json } {
  return {
    ...others,
    ...(allowed_tools !== undefined && { allowed_tools: JSON.parse(allowed_tools) as Json }),
    ...(allowed_apis !== undefined && { allowed_apis: JSON.parse(allowed_apis) as Json }),
  } as { [name: string]: Json };
}
