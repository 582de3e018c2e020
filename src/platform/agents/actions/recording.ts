import { randomUUID } from 'node:crypto';
import type { Json } from '../../../core/json/canonical.ts';
import { type EntryPlace, keptPlace } from '../../audit/api.ts';
import type { Transaction } from '../../database/database.ts';
import { DomainError, invalidField } from '../../errors.ts';
import type { Agent } from '../agent-rows.ts';
import { type AgentEntry, writeEntries } from '../entries.ts';
import type { AgentStateName } from '../enums.ts';
import { type FamilyLedgers, type LedgerChange, lineToEntry } from '../trust/families.ts';
import type { AgentDecoy } from '../vault/decoys.ts';
import { type DecoyTrip, UNKNOWN_ASKER } from '../vault/tripping.ts';
import { insertActions, type NewAgentAction } from './action-rows.ts';
import {
  type ActionDeps,
  actionRowOf,
  type JudgedAction,
  judge,
  noteAttempt,
  noteJudged,
  trustToWire,
} from './judging.ts';
import { KnownActions } from './known.ts';
import { type ActionReport, isSignedTooFar } from './report.ts';

/** Answer to a report. The refusal of a suspended or revoked agent is recorded as an entry, too. */
export type ActionAnswer = { action: NewAgentAction } | { refused: DomainError };

/**
 * Records reports of agents: actions, lines of their ledgers, and entries of their streams, all or none.
 * @returns the answer to each report.
 */
export async function recordActions(
  transaction: Transaction,
  deps: ActionDeps,
  reports: readonly ActionReport[],
): Promise<ActionAnswer[]> {
  const recording = await ActionRecording.begin(transaction, deps, reports);
  const answers: (() => ActionAnswer)[] = [];
  for (const report of reports) answers.push(await recording.add(report));
  await recording.write();
  return answers.map((answer) => answer());
}

interface Begun {
  ledgers: FamilyLedgers;
  known: KnownActions;
  now: Date;
}

class ActionRecording {
  readonly #transaction: Transaction;
  readonly #deps: ActionDeps;
  readonly #begun: Begun;
  readonly #entries: AgentEntry[] = [];
  readonly #made: { action: NewAgentAction; entry: number }[] = [];
  readonly #trips: DecoyTrip[] = [];
  #places: readonly EntryPlace[] = [];

  private constructor(transaction: Transaction, deps: ActionDeps, begun: Begun) {
    this.#transaction = transaction;
    this.#deps = deps;
    this.#begun = begun;
  }

  static async begin(transaction: Transaction, deps: ActionDeps, reports: readonly ActionReport[]) {
    const now = deps.clock();
    const ids = [...new Set(reports.map(({ agentId }) => agentId))];
    const ledgers = await deps.trust.begin(transaction, ids);
    const agents = ids.map((id) => ledgers.agent(id)).filter((agent) => agent !== undefined);
    const known = await KnownActions.read(transaction, { reports, agents, now });
    return new ActionRecording(transaction, deps, { ledgers, known, now });
  }

  /** @returns a function that gives the answer after everything is written. */
  async add(report: ActionReport): Promise<() => ActionAnswer> {
    try {
      return await this.#add(report);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return () => ({ refused: error });
    }
  }

  /** Writes everything that was added. Locks the heads of streams last: see `appendIn`. */
  async write(): Promise<void> {
    const { ledgers, known } = this.#begun;
    await ledgers.write();
    this.#entries.push(...(await this.#deps.vaults.trip(this.#transaction, this.#trips)));
    this.#places = await writeEntries(this.#deps.log, this.#transaction, this.#entries);
    for (const { action, entry } of this.#made) Object.assign(action, keptPlace(this.#places[entry]));
    const actions = this.#made.map(({ action }) => action);
    await insertActions(this.#transaction, actions);
    await known.results.write(this.#transaction);
  }

  async #add(report: ActionReport): Promise<() => ActionAnswer> {
    const { ledgers, known, now } = this.#begun;
    const agent = ledgers.agent(report.agentId);
    if (agent === undefined) throw new DomainError('not_found', 'no agent has this ID');
    const earlier = known.earlier(agent, report);
    if (earlier !== null) return () => ({ action: earlier });
    if (report.attestation !== null && isSignedTooFar(report.attestation, now)) throw signedTooFar(now);
    if (agent.state === 'suspended' || agent.state === 'revoked') return this.#refuse(agent, report);
    const action = await this.#log(agent, report, judge(agent, report, known.factsOf(agent, report)));
    if (report.keyed !== null) known.results.keep(report.keyed, action.action_id);
    return () => ({ action });
  }

  async #log(agent: Agent, report: ActionReport, judged: JudgedAction): Promise<NewAgentAction> {
    const { ledgers, known, now } = this.#begun;
    const change = await noteJudged(this.#transaction, this.#deps, ledgers, { agent, report, judged });
    const entry = this.#entries.push(loggedEntry(report, judged, { change, now })) - 1;
    this.#entries.push(...change.entries);
    if (judged.decoy !== null) this.#trips.push(tripOf(report, judged, judged.decoy, now));
    const action = actionRowOf(agent, report, { judged, change, now });
    this.#made.push({ action, entry });
    ledgers.countAction(agent);
    known.add(action);
    return action;
  }

  /** Records the attempt of an agent that may not act. */
  async #refuse(agent: Agent, report: ActionReport): Promise<() => ActionAnswer> {
    const { state } = agent;
    const action_id = randomUUID();
    const change = await noteAttempt(this.#begun.ledgers, agent, action_id);
    const entry = this.#entries.push(refusedEntry(report, { action_id, state, change })) - 1;
    this.#entries.push(...change.entries);
    return () => {
      const members = { action_id, entry: this.#placeOf(entry), trust: trustToWire(change) };
      return { refused: state === 'suspended' ? suspended(members) : revoked(members) };
    };
  }

  #placeOf(entry: number): EntryPlace {
    const place = this.#places[entry];
    if (place === undefined) throw new Error('what an agent did has no entry');
    return place;
  }
}

function tripOf(
  { agentId, actor: by }: ActionReport,
  { action_id: eventId }: JudgedAction,
  decoy: AgentDecoy,
  now: Date,
): DecoyTrip {
  return { decoy, agentId, by, use: 'called', at: now.toISOString(), eventId, asker: UNKNOWN_ASKER };
}

function signedTooFar(now: Date): DomainError {
  return invalidField(
    'attestation.signed_at',
    `differs from the time of the service, ${now.toISOString()}, by more than five minutes; nothing was recorded`,
  );
}

function suspended(members: Record<string, unknown>): DomainError {
  return new DomainError(
    'agent_suspended',
    'the agent is suspended; the attempt is recorded and costs points; reinstate the agent to let it act again',
    members,
  );
}

function revoked(members: Record<string, unknown>): DomainError {
  return new DomainError('agent_revoked', 'the agent is permanently revoked; the attempt is recorded', members);
}

/**
 * Returns the entry of an action. The entry contains all signed content, so that it suffices to check the signature.
 */
function loggedEntry(
  report: ActionReport,
  { action_id, decision, violations, isAttested }: JudgedAction,
  { change, now }: { change: LedgerChange; now: Date },
): AgentEntry {
  const judged = { decision, violations: violations.map((violation) => ({ ...violation })), attested: isAttested };
  const kept = { received_at: now.toISOString(), reported_by: report.actor, outcome: null, reported_at: null };
  return entryOf(report, 'action.logged', action_id, { ...judged, ...kept, trust: trustToEntry(change) });
}

/** Returns the entry of an attempt by an agent that may not act. */
function refusedEntry(
  report: ActionReport,
  { action_id, state, change }: { action_id: string; state: AgentStateName; change: LedgerChange },
): AgentEntry {
  return entryOf(report, 'action.refused', action_id, { state, trust: trustToEntry(change) });
}

function entryOf(
  { agentId, actor, content, attestation }: ActionReport,
  action: string,
  action_id: string,
  more: { [name: string]: Json },
): AgentEntry {
  const said = { ...content, ...(attestation && { attestation: { ...attestation } }) };
  return {
    agentId,
    actor,
    action,
    of: ['action', action_id],
    more: { ...(said as { [name: string]: Json }), ...more },
  };
}

/** Converts a change for its entry, including the ledger lines of the action. */
function trustToEntry({ before, after, tier, lines }: LedgerChange) {
  return { before, after, tier, lines: lines.map(lineToEntry) };
}
