import { randomUUID } from 'node:crypto';
import type { Json } from '../../../core/json/canonical.ts';
import { keptPlace } from '../../audit/api.ts';
import type { Database, Transaction } from '../../database/database.ts';
import { Together } from '../../database/together.ts';
import { DomainError, there } from '../../errors.ts';
import { newestFirst } from '../../http/newest-first.ts';
import type { Principal } from '../../http/principal.ts';
import { keyedRequest } from '../../idempotency/keyed-results.ts';
import { type Agent, findAgent } from '../agent-rows.ts';
import { type AgentEntry, refuseOthers, speakerOf, writeEntries } from '../entries.ts';
import type { AgentTables } from '../tables.ts';
import type { FamilyLedgers } from '../trust/families.ts';
import type { ActionQuery, LoggedAction, LoggedOutcome, NewAction, NewOutcome, WireAction } from '../wire/actions.ts';
import {
  type AgentAction,
  actionsOf,
  actionToWire,
  insertOutcomes,
  loggedOutcomeToWire,
  loggedToWire,
  type NewReportedOutcome,
  outcomesOf,
} from './action-rows.ts';
import type { ActionDeps } from './judging.ts';
import { type ActionAnswer, recordActions } from './recording.ts';
import type { ActionReport } from './report.ts';

/** Actions of agents, for routes and pages. */
export class Actions {
  readonly #database: Database;
  readonly #actions: Together<ActionReport, ActionAnswer>;
  readonly #outcomes: Together<OutcomeReport, OutcomeAnswer>;

  constructor(deps: ActionDeps & { database: Database }) {
    this.#database = deps.database;
    this.#actions = new Together(deps.database, (transaction, reports) => recordActions(transaction, deps, reports));
    this.#outcomes = new Together(deps.database, (transaction, reports) => recordOutcomes(transaction, deps, reports));
  }

  /**
   * Records and judges an action. This cannot stop the agent.
   * @throws DomainError `forbidden` for the key of another agent; `not_found`; `invalid_request` if the signing time is
   * too far from now; `agent_suspended`, `agent_revoked`, which are recorded; `idempotency_conflict`.
   */
  async log(principal: Principal, agentId: string, action: NewAction, idempotencyKey?: string): Promise<LoggedAction> {
    refuseOthers(principal, agentId);
    const { attestation = null, ...content } = action;
    const keyed =
      idempotencyKey === undefined
        ? null
        : keyedRequest(`agents/${agentId}/actions`, idempotencyKey, action as unknown as Json);
    const report = { agentId, actor: speakerOf(principal), content, attestation, keyed };
    const answer = await this.#actions.do(report);
    if ('refused' in answer) throw answer.refused;
    return loggedToWire({ agent_id: agentId }, answer.action);
  }

  /**
   * Records the outcome of an action, once. @throws DomainError `forbidden`, `not_found`; `conflict` for a different
   * outcome.
   */
  async outcome(principal: Principal, agentId: string, actionId: string, said: NewOutcome): Promise<LoggedOutcome> {
    refuseOthers(principal, agentId);
    const answer = await this.#outcomes.do({ agentId, actionId, actor: speakerOf(principal), said });
    if ('refused' in answer) throw answer.refused;
    return answer.logged;
  }

  /** Lists actions, newest first. @throws DomainError `not_found`, `invalid_cursor`. */
  async list(agentId: string, { limit, cursor, decision, from, to }: ActionQuery) {
    const agent = await findAgent(this.#database, agentId);
    let actions = this.#rows().where('agent_no', '=', agent.agent_no);
    if (from !== undefined) actions = actions.where('received_at', '>=', from);
    if (to !== undefined) actions = actions.where('received_at', '<', to);
    if (decision !== undefined) actions = actions.where('decision', '=', decision);
    const numbered = { list: 'actions', table: 'agent_actions', number: 'action_no' } as const;
    const { page, next_cursor } = await newestFirst(actions, numbered, { limit, cursor });
    const outcomes = await outcomesOf(
      this.#database,
      page.map(({ action_no }) => action_no),
    );
    return { data: page.map((row) => actionToWire(agent, row, outcomes.get(row.action_no))), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async find(agentId: string, actionId: string): Promise<WireAction> {
    const agent = await findAgent(this.#database, agentId);
    const actions = this.#rows().where('agent_no', '=', agent.agent_no).where('action_id', '=', actionId);
    const row = there(await actions.executeTakeFirst(), 'the agent has no action with this ID');
    return actionToWire(agent, row, (await outcomesOf(this.#database, [row.action_no])).get(row.action_no));
  }

  /** Resolves when no report is waiting or being written. */
  async settled(): Promise<void> {
    await this.#actions.settled();
    await this.#outcomes.settled();
  }

  #rows() {
    return this.#database.tables<AgentTables>().selectFrom('agent_actions').selectAll();
  }
}

/** Outcome of an action, with its reporter. */
interface OutcomeReport {
  agentId: string;
  actionId: string;
  /** Reporter, as named in entries. */
  actor: string;
  said: NewOutcome;
}

type OutcomeAnswer = { logged: LoggedOutcome } | { refused: DomainError };

/**
 * Records the outcomes of actions, each once; a repeated report gets the same answer. Accepts outcomes in any state of
 * the agent, because actions from before a suspension have outcomes, too.
 */
async function recordOutcomes(
  transaction: Transaction,
  deps: ActionDeps,
  reports: readonly OutcomeReport[],
): Promise<OutcomeAnswer[]> {
  const now = deps.clock().toISOString();
  const ledgers = await deps.trust.begin(transaction, [...new Set(reports.map(({ agentId }) => agentId))]);
  const actions = await actionsOf(transaction, [...new Set(reports.map(({ actionId }) => actionId))]);
  const actionNos = actions.map(({ action_no }) => action_no);
  const outcomes = new Map<number, NewReportedOutcome>(await outcomesOf(transaction, actionNos));
  const made: NewReportedOutcome[] = [];
  const entries: AgentEntry[] = [];
  const answers = reports.map((report): (() => OutcomeAnswer) => {
    const found = foundIn(ledgers, actions, report);
    if ('refused' in found) return () => found;
    const { agent, action } = found;
    const earlier = outcomes.get(action.action_no);
    if (earlier !== undefined && !isSame(earlier, report.said)) return () => ({ refused: saidOtherwise(earlier) });
    const row = earlier ?? rowOf(action, report, now);
    if (earlier === undefined) {
      outcomes.set(action.action_no, row);
      made.push(row);
      entries.push(outcomeEntry(report, now));
    }
    return () => ({ logged: loggedOutcomeToWire(agent, action.action_id, row) });
  });
  const places = await writeEntries(deps.log, transaction, entries);
  for (const [at, row] of made.entries()) Object.assign(row, keptPlace(places[at]));
  await insertOutcomes(transaction, made);
  return answers.map((answer) => answer());
}

function foundIn(
  ledgers: FamilyLedgers,
  actions: readonly AgentAction[],
  { agentId, actionId }: OutcomeReport,
): { agent: Agent; action: AgentAction } | { refused: DomainError } {
  const agent = ledgers.agent(agentId);
  if (agent === undefined) return { refused: new DomainError('not_found', 'no agent has this ID') };
  const action = actions.find(({ action_id, agent_no }) => action_id === actionId && agent_no === agent.agent_no);
  if (action === undefined) return { refused: new DomainError('not_found', 'the agent has no action with this ID') };
  return { agent, action };
}

function isSame({ outcome, output_hash }: NewReportedOutcome, said: NewOutcome): boolean {
  return outcome === said.outcome && output_hash === (said.output_hash ?? null);
}

function saidOtherwise({ outcome, reported_at }: NewReportedOutcome): DomainError {
  return new DomainError(
    'conflict',
    `the outcome "${outcome}" was already reported at ${reported_at}; nothing was recorded`,
  );
}

function rowOf({ action_no, agent_no }: AgentAction, { actor, said }: OutcomeReport, now: string): NewReportedOutcome {
  const { outcome, output_hash = null } = said;
  return {
    outcome_id: randomUUID(),
    action_no,
    agent_no,
    outcome,
    output_hash,
    reported_at: now,
    reported_by: actor,
    entry_sequence: 0,
    entry_hash: '',
  };
}

function outcomeEntry({ agentId, actionId, actor, said }: OutcomeReport, reported_at: string): AgentEntry {
  return {
    agentId,
    actor,
    action: 'action.outcome',
    of: ['action', actionId],
    more: { ...(said as { [name: string]: Json }), reported_at },
  };
}
