import type { Selectable } from 'kysely';
import { placeToWire } from '../../audit/api.ts';
import type { Reader, Transaction } from '../../database/database.ts';
import { kindsOf, pick } from '../../database/table.ts';
import type { Agent } from '../agent-rows.ts';
import { streamOfAgent } from '../enums.ts';
import type { AgentPublicKeys } from '../identity/identity-rows.ts';
import { currentIdentities } from '../identity/identity-rows.ts';
import { AGENT_TABLES, type AgentTables } from '../tables.ts';
import type { LoggedAction, LoggedOutcome, Violation, WireAction } from '../wire/actions.ts';

export type AgentAction = Selectable<AgentTables['agent_actions']>;
export type NewAgentAction = Omit<AgentAction, 'action_no'>;
type ReportedOutcome = Selectable<AgentTables['agent_outcomes']>;
export type NewReportedOutcome = Omit<ReportedOutcome, 'outcome_no'>;

const { action_no: _, ...ACTION } = kindsOf(AGENT_TABLES.agent_actions);
const { outcome_no: __, ...OUTCOME } = kindsOf(AGENT_TABLES.agent_outcomes);

export function insertActions(transaction: Transaction, actions: readonly NewAgentAction[]): Promise<void> {
  return transaction.insertAll('agent_actions', ACTION, actions);
}

export function insertOutcomes(transaction: Transaction, outcomes: readonly NewReportedOutcome[]): Promise<void> {
  return transaction.insertAll('agent_outcomes', OUTCOME, outcomes);
}

/** Returns the actions with these ids, of any agent: agents choose the ids of their own actions. */
export async function actionsOf(reader: Reader, actionIds: readonly string[]): Promise<AgentAction[]> {
  if (actionIds.length === 0) return [];
  const actions = reader.tables<AgentTables>().selectFrom('agent_actions').selectAll();
  return actions.where(reader.sql.isAmong('action_id', actionIds)).execute();
}

/** Returns the outcomes of actions, by the numbers of the actions. */
export async function outcomesOf(reader: Reader, actionNos: readonly number[]): Promise<Map<number, ReportedOutcome>> {
  if (actionNos.length === 0) return new Map();
  const outcomes = reader.tables<AgentTables>().selectFrom('agent_outcomes').selectAll();
  const rows = await outcomes.where('action_no', 'in', actionNos).execute();
  return new Map(rows.map((row) => [row.action_no, row]));
}

/** Returns the public keys that the last onboarding of each agent issued. */
export async function publicKeysOf(
  reader: Reader,
  agentNos: readonly number[],
): Promise<ReadonlyMap<number, AgentPublicKeys>> {
  if (agentNos.length === 0) return new Map();
  const rows = await currentIdentities(reader, agentNos).select(['agent_no', 'public_keys']).execute();
  return new Map(rows.map(({ agent_no, public_keys }) => [agent_no, JSON.parse(public_keys) as AgentPublicKeys]));
}

type OfAgent = Pick<Agent, 'agent_id'>;

/** Returns the answer to a POST of an action, new or repeated. */
export function loggedToWire({ agent_id }: OfAgent, action: NewAgentAction): LoggedAction {
  const { violations, attested, score_before, score_after, tier, reasons } = action;
  return {
    ...pick(action, ['action_id', 'decision']),
    violations: JSON.parse(violations) as Violation[],
    attested: attested === 1,
    entry: placeToWire(streamOfAgent(agent_id), action),
    trust: { before: score_before, after: score_after, tier, reasons: JSON.parse(reasons) as string[] },
  };
}

export function actionToWire(agent: OfAgent, action: AgentAction, outcome: NewReportedOutcome | undefined): WireAction {
  return {
    ...loggedToWire(agent, action),
    agent_id: agent.agent_id,
    ...pick(action, ['received_at', 'signed_at', 'algorithm', 'reported_by', 'action_type', 'action_description']),
    ...pick(action, ['tool_used', 'api_called', 'input_hash', 'output_hash', 'model', 'version']),
    outcome: outcome === undefined ? null : outcomeToWire(agent, outcome),
  };
}

export function loggedOutcomeToWire(agent: OfAgent, action_id: string, outcome: NewReportedOutcome): LoggedOutcome {
  return { action_id, ...outcomeToWire(agent, outcome) };
}

function outcomeToWire({ agent_id }: OfAgent, row: NewReportedOutcome) {
  const { outcome, output_hash, reported_at } = row;
  return { outcome, output_hash, reported_at, entry: placeToWire(streamOfAgent(agent_id), row) };
}
