import { column, table } from '../../database/table.ts';
import type { ActionDecision, ActionOutcome, CeilingCause, TrustRuleName, TrustTier } from '../enums.ts';

export const TRUST_TABLES = {
  /** Actions that agents reported; never changed. */
  agent_actions: table(
    {
      action_no: column.ordinal(),
      action_id: column.text(),
      agent_no: column.integer('REFERENCES agents'),
      received_at: column.text(),
      /** As the agent says; null without attestation. */
      signed_at: column.optional(column.text()),
      action_type: column.text(),
      action_description: column.text(),
      tool_used: column.optional(column.text()),
      api_called: column.optional(column.text()),
      input_hash: column.optional(column.text()),
      output_hash: column.optional(column.text()),
      model: column.optional(column.text()),
      version: column.optional(column.text()),
      decision: column.oneOf<ActionDecision>(['allowed', 'violation']),
      /** JSON. */
      violations: column.text(),
      attested: column.flag(),
      algorithm: column.optional(column.text()),
      signature: column.optional(column.text()),
      /** Hex SHA-256 of the RFC 8785 text of what was sent. */
      content_sha256: column.digest(),
      reported_by: column.text(),
      score_before: column.integer(),
      score_after: column.integer(),
      tier: column.text<TrustTier>(),
      /** JSON of sentences. */
      reasons: column.text(),
      entry_sequence: column.integer(),
      entry_hash: column.digest(),
    },
    {
      constraints: ['UNIQUE (agent_no, action_id)'],
      indexes: {
        agent_actions_by_agent: '(agent_no, action_no)',
        agent_actions_by_decision: '(agent_no, decision, action_no)',
        agent_violations: "(action_no) WHERE decision = 'violation'",
        agent_actions_by_time: '(received_at)',
        agent_violations_by_time: "(received_at) WHERE decision = 'violation'",
      },
      appendOnly: [['action_no'], ['agent_no', 'action_id']],
    },
  ),
  /** Outcomes of actions; never changed. */
  agent_outcomes: table(
    {
      outcome_no: column.ordinal(),
      outcome_id: column.text('UNIQUE'),
      action_no: column.integer('UNIQUE REFERENCES agent_actions'),
      agent_no: column.integer('REFERENCES agents'),
      outcome: column.oneOf<ActionOutcome>(['succeeded', 'failed', 'unknown']),
      output_hash: column.optional(column.text()),
      reported_at: column.text(),
      reported_by: column.text(),
      entry_sequence: column.integer(),
      entry_hash: column.digest(),
    },
    { appendOnly: [['outcome_no'], ['outcome_id'], ['action_no']] },
  ),
  /** The ledger of trust; never changed. */
  agent_trust_lines: table(
    {
      agent_no: column.integer('REFERENCES agents'),
      /** Its number among those of its agent, from 1 on. */
      entry_no: column.integer(),
      at: column.text(),
      rule: column.text<TrustRuleName>(),
      /** Asked for; what was given is the difference of the scores. */
      points: column.integer(),
      score_before: column.integer('CHECK (score_before BETWEEN 0 AND 100)'),
      score_after: column.integer('CHECK (score_after BETWEEN 0 AND 100)'),
      ceiling: column.integer('CHECK (ceiling BETWEEN 0 AND 100)'),
      ceiling_because: column.text<CeilingCause>(),
      action_id: column.optional(column.text()),
      /** JSON. */
      detail: column.text(),
    },
    { constraints: ['PRIMARY KEY (agent_no, entry_no)'], appendOnly: [['agent_no', 'entry_no']] },
  ),
};
