import type { Reader } from '../../database/database.ts';
import { KeyedResults } from '../../idempotency/keyed-results.ts';
import type { Agent } from '../agent-rows.ts';
import type { AgentPublicKeys } from '../identity/identity-rows.ts';
import { type AgentDecoy, decoyToolsOf } from '../vault/decoys.ts';
import { actionsOf, type NewAgentAction, publicKeysOf } from './action-rows.ts';
import type { ActionFacts } from './judging.ts';
import { type ActionReport, actionIdOf, contentSha256, isSignedAction } from './report.ts';

interface Reading {
  reports: readonly ActionReport[];
  /** Agents of the reports. */
  agents: readonly Agent[];
  now: Date;
}

interface Read {
  results: KeyedResults;
  publicKeys: ReadonlyMap<number, AgentPublicKeys>;
  decoyTools: ReadonlyMap<number, ReadonlyMap<string, AgentDecoy>>;
}

/** Facts that are read before actions are judged: earlier actions, the keys of their agents, and the decoy tools. */
export class KnownActions {
  readonly results: KeyedResults;
  readonly #read: Read;
  readonly #actions = new Map<string, NewAgentAction>();

  private constructor(read: Read, actions: readonly NewAgentAction[]) {
    this.#read = read;
    this.results = read.results;
    for (const action of actions) this.add(action);
  }

  static async read(reader: Reader, { reports, agents, now }: Reading): Promise<KnownActions> {
    const results = new KeyedResults(now);
    await results.read(
      reader,
      reports.flatMap(({ keyed }) => keyed ?? []),
    );
    const attested = new Set(reports.filter(({ attestation }) => attestation !== null).map(({ agentId }) => agentId));
    const signing = agents.filter(({ agent_id }) => attested.has(agent_id)).map(({ agent_no }) => agent_no);
    const ids = reports.flatMap(({ attestation, keyed }) =>
      [attestation === null ? [] : actionIdOf(attestation), idOf(results, keyed)].flat(),
    );
    const actions = await actionsOf(reader, ids);
    const publicKeys = await publicKeysOf(reader, signing);
    const acting = agents.map(({ agent_no }) => agent_no);
    return new KnownActions({ results, publicKeys, decoyTools: await decoyToolsOf(reader, acting) }, actions);
  }

  add(action: NewAgentAction): void {
    this.#actions.set(nameOf(action), action);
  }

  /**
   * Returns the earlier action that this report repeats, with the same action id of the agent or the same idempotency
   * key; null if the action is new.
   * @throws DomainError `idempotency_conflict`.
   */
  earlier({ agent_no }: Agent, { attestation, keyed, content }: ActionReport): NewAgentAction | null {
    const result = keyed === null ? null : this.results.resultOf(keyed);
    if (result !== null) return this.#actions.get(nameOf({ agent_no, action_id: result })) ?? null;
    if (attestation === null) return null;
    const earlier = this.#actions.get(nameOf({ agent_no, action_id: actionIdOf(attestation) }));
    return earlier?.content_sha256 === contentSha256(content) ? earlier : null;
  }

  factsOf(agent: Agent, report: ActionReport): ActionFacts {
    const { tool_used } = report.content;
    const tools = this.#read.decoyTools.get(agent.agent_no);
    const decoy = tool_used === undefined ? undefined : tools?.get(tool_used);
    return { badSignature: this.#badSignature(agent, report), decoy: decoy ?? null };
  }

  #badSignature({ agent_no, agent_id }: Agent, { attestation, content }: ActionReport): string | null {
    if (attestation === null) return null;
    const keys = this.#read.publicKeys.get(agent_no);
    if (keys === undefined) return 'the agent is not onboarded, so it has no signing key';
    if (!isSignedAction(agent_id, content, attestation, keys))
      return `the signature is not a valid ${attestation.algorithm} signature by the agent's key over this action`;
    const isTaken = this.#actions.has(nameOf({ agent_no, action_id: actionIdOf(attestation) }));
    return isTaken ? 'the agent already used this action_id for another action' : null;
  }
}

function idOf(results: KeyedResults, keyed: ActionReport['keyed']): string[] {
  if (keyed === null) return [];
  try {
    return [results.resultOf(keyed) ?? []].flat();
  } catch {
    // `earlier` reports a key that was used for another request.
    return [];
  }
}

function nameOf({ agent_no, action_id }: Pick<NewAgentAction, 'agent_no' | 'action_id'>): string {
  return `${agent_no} ${action_id}`;
}
