import { randomUUID } from 'node:crypto';
import type { Json } from '../../../core/json/canonical.ts';
import { keptPlace } from '../../audit/api.ts';
import type { Transaction } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import type { Agent } from '../agent-rows.ts';
import { type AgentEntry, writeEntries } from '../entries.ts';
import type { FamilyLedgers } from '../trust/families.ts';
import type { LoggedOutcome, NewOutcome } from '../wire/actions.ts';
import { type AgentAction, actionsOf, insertOutcomes, type NewReportedOutcome, outcomesOf } from './action-rows.ts';
import type { ActionDeps } from './noting.ts';
import { loggedOutcomeToWire } from './wire.ts';

/** The outcome of an action, and its reporter. */
export interface OutcomeReport {
  agentId: string;
  actionId: string;
  /** As entries name who acts. */
  actor: string;
  said: NewOutcome;
}

export type OutcomeAnswer = { logged: LoggedOutcome } | { refused: DomainError };

/**
 * Records what became of actions, each once: the same again is answered again. It is taken whatever the agent's state
 * is: what it did before it was suspended has an end, too.
 */
export async function recordOutcomes(
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
  if (agent === undefined) return { refused: new DomainError('not_found', 'there is no agent of this id') };
  const action = actions.find(({ action_id, agent_no }) => action_id === actionId && agent_no === agent.agent_no);
  if (action === undefined) return { refused: new DomainError('not_found', 'the agent has no action of this id') };
  return { agent, action };
}

function isSame({ outcome, output_hash }: NewReportedOutcome, said: NewOutcome): boolean {
  return outcome === said.outcome && output_hash === (said.output_hash ?? null);
}

function saidOtherwise({ outcome, reported_at }: NewReportedOutcome): DomainError {
  return new DomainError(
    'conflict',
    `that the action ${outcome === 'unknown' ? 'has an unknown outcome' : outcome} was reported at ${reported_at}, and stays; nothing was recorded`,
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
