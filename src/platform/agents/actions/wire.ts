import { placeToWire } from '../../audit/api.ts';
import type { Agent } from '../agent-rows.ts';
import { streamOfAgent } from '../enums.ts';
import type { TrustChange } from '../ports.ts';
import type { LoggedAction, LoggedOutcome, Violation, WireAction } from '../wire/actions.ts';
import type { AgentAction, NewAgentAction, NewReportedOutcome } from './action-rows.ts';

type OfAgent = Pick<Agent, 'agent_id'>;

export function trustToWire({ before, after, tier, reasons }: TrustChange): LoggedAction['trust'] {
  return { before, after, tier, reasons };
}

/** The answer to a POST of an action, also to a repeated one. */
export function loggedToWire({ agent_id }: OfAgent, action: NewAgentAction): LoggedAction {
  const { action_id, decision, violations, attested, score_before, score_after, tier, reasons } = action;
  return {
    action_id,
    decision,
    violations: JSON.parse(violations) as Violation[],
    attested: attested === 1,
    entry: placeToWire(streamOfAgent(agent_id), action),
    trust: { before: score_before, after: score_after, tier, reasons: JSON.parse(reasons) as string[] },
  };
}

export function actionToWire(agent: OfAgent, action: AgentAction, outcome: NewReportedOutcome | undefined): WireAction {
  const { received_at, signed_at, algorithm, reported_by, action_type, action_description } = action;
  const { tool_used, api_called, input_hash, output_hash, model, version } = action;
  return {
    ...loggedToWire(agent, action),
    agent_id: agent.agent_id,
    received_at,
    signed_at,
    algorithm,
    reported_by,
    action_type,
    action_description,
    tool_used,
    api_called,
    input_hash,
    output_hash,
    model,
    version,
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
