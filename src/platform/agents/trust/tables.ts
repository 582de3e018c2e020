import { digest, flag, integer, oneOf, optional, ordinal, table, text } from '../../database/table.ts';
import type { ActionDecision, ActionOutcome, CeilingCause, TrustRuleName, TrustTier } from '../words.ts';

export const TRUST_TABLES = {
  /** Actions that agents reported; never changed. */
  agent_actions: table(
    {
      action_no: ordinal(),
      action_id: text(),
      agent_no: integer('REFERENCES agents'),
      received_at: text(),
      /** As the agent says; null without attestation. */
      signed_at: optional(text()),
      action_type: text(),
      action_description: text(),
      tool_used: optional(text()),
      api_called: optional(text()),
      input_hash: optional(text()),
      output_hash: optional(text()),
      model: optional(text()),
      version: optional(text()),
      decision: oneOf<ActionDecision>(['allowed', 'violation']),
      /** JSON. */
      violations: text(),
      attested: flag(),
      algorithm: optional(text()),
      signature: optional(text()),
      /** Hex SHA-256 of the RFC 8785 text of what was sent. */
      content_sha256: digest(),
      reported_by: text(),
      score_before: integer(),
      score_after: integer(),
      tier: text<TrustTier>(),
      /** JSON of sentences. */
      reasons: text(),
      entry_sequence: integer(),
      entry_hash: digest(),
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
  /** What became of actions; never changed. */
  agent_outcomes: table(
    {
      outcome_no: ordinal(),
      outcome_id: text('UNIQUE'),
      action_no: integer('UNIQUE REFERENCES agent_actions'),
      agent_no: integer('REFERENCES agents'),
      outcome: oneOf<ActionOutcome>(['succeeded', 'failed', 'unknown']),
      output_hash: optional(text()),
      reported_at: text(),
      reported_by: text(),
      entry_sequence: integer(),
      entry_hash: digest(),
    },
    { appendOnly: [['outcome_no'], ['outcome_id'], ['action_no']] },
  ),
  /** The ledger of trust; never changed. */
  agent_trust_lines: table(
    {
      agent_no: integer('REFERENCES agents'),
      /** Of its agent, from 1 on. */
      entry_no: integer(),
      at: text(),
      rule: text<TrustRuleName>(),
      /** Asked for; what was given is the difference of the scores. */
      points: integer(),
      score_before: integer('CHECK (score_before BETWEEN 0 AND 100)'),
      score_after: integer('CHECK (score_after BETWEEN 0 AND 100)'),
      ceiling: integer('CHECK (ceiling BETWEEN 0 AND 100)'),
      ceiling_because: text<CeilingCause>(),
      action_id: optional(text()),
      /** JSON. */
      detail: text(),
    },
    { constraints: ['PRIMARY KEY (agent_no, entry_no)'], appendOnly: [['agent_no', 'entry_no']] },
  ),
};
