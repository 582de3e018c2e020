import type { Json } from '../../../core/json/canonical.ts';
import type { Database } from '../../database/database.ts';
import { Together } from '../../database/together.ts';
import { DomainError } from '../../errors.ts';
import { newestFirst } from '../../http/newest-first.ts';
import type { Principal } from '../../http/principal.ts';
import { keyedRequest } from '../../idempotency/keyed-results.ts';
import { findAgent } from '../agent-rows.ts';
import { refuseOthers, speakerOf } from '../binding.ts';
import type { AgentTables } from '../tables.ts';
import type { ActionQuery, LoggedAction, LoggedOutcome, NewAction, NewOutcome, WireAction } from '../wire/actions.ts';
import { outcomesOf } from './action-rows.ts';
import type { ActionDeps } from './noting.ts';
import { type OutcomeAnswer, type OutcomeReport, recordOutcomes } from './outcomes.ts';
import { type ActionAnswer, recordActions } from './recording.ts';
import type { ActionReport } from './report.ts';
import { actionToWire, loggedToWire } from './wire.ts';

/** Actions of agents, as routes and pages show them. */
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
   * Records an action, and judges it. It cannot stop the agent.
   * @throws DomainError `forbidden` for a key of another agent; `not_found`; `invalid_request` for one that was signed at
   * another time; `agent_suspended`, `agent_revoked`, which are recorded; `idempotency_conflict`.
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
   * Records what became of an action, once. @throws DomainError `forbidden`, `not_found`; `conflict` for another
   * outcome.
   */
  async outcome(principal: Principal, agentId: string, actionId: string, said: NewOutcome): Promise<LoggedOutcome> {
    refuseOthers(principal, agentId);
    const answer = await this.#outcomes.do({ agentId, actionId, actor: speakerOf(principal), said });
    if ('refused' in answer) throw answer.refused;
    return answer.logged;
  }

  /** Newest first. @throws DomainError `not_found`, `invalid_cursor`. */
  async list(agentId: string, { limit, cursor, decision, from, to }: ActionQuery) {
    const agent = await findAgent(this.#database, agentId);
    let actions = this.#rows().where('agent_no', '=', agent.agent_no);
    if (from !== undefined) actions = actions.where('received_at', '>=', from);
    if (to !== undefined) actions = actions.where('received_at', '<', to);
    if (decision !== undefined) actions = actions.where('decision', '=', decision);
    const numbered = { list: 'actions', table: 'agent_actions', number: 'action_no' } as const;
    const { shown, next_cursor } = await newestFirst(actions, numbered, { limit, cursor });
    const outcomes = await outcomesOf(
      this.#database,
      shown.map(({ action_no }) => action_no),
    );
    return { data: shown.map((row) => actionToWire(agent, row, outcomes.get(row.action_no))), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async find(agentId: string, actionId: string): Promise<WireAction> {
    const agent = await findAgent(this.#database, agentId);
    const actions = this.#rows().where('agent_no', '=', agent.agent_no).where('action_id', '=', actionId);
    const row = await actions.executeTakeFirst();
    if (row === undefined) throw new DomainError('not_found', 'the agent has no action of this id');
    return actionToWire(agent, row, (await outcomesOf(this.#database, [row.action_no])).get(row.action_no));
  }

  /** Resolves when nothing waits and nothing is written. */
  async settled(): Promise<void> {
    await this.#actions.settled();
    await this.#outcomes.settled();
  }

  #rows() {
    return this.#database.tables<AgentTables>().selectFrom('agent_actions').selectAll();
  }
}
