import type { Generated } from 'kysely';
import type { ActionDecision, ActionOutcome, TrustTier } from '../words.ts';

/** Actions that agents reported; never changed. */
// Over ten members: they are columns.
export interface AgentActionTable {
  action_no: Generated<number>;
  action_id: string;
  agent_no: number;
  received_at: string;
  /** As the agent says; null without attestation. */
  signed_at: string | null;
  action_type: string;
  action_description: string;
  tool_used: string | null;
  api_called: string | null;
  input_hash: string | null;
  output_hash: string | null;
  model: string | null;
  version: string | null;
  decision: ActionDecision;
  /** JSON. */
  violations: string;
  attested: number;
  algorithm: string | null;
  signature: string | null;
  /** Hex SHA-256 of the RFC 8785 text of what was sent. */
  content_sha256: string;
  reported_by: string;
  score_before: number;
  score_after: number;
  tier: TrustTier;
  /** JSON of sentences. */
  reasons: string;
  entry_sequence: number;
  entry_hash: string;
}

/** What became of actions; never changed. */
export interface AgentOutcomeTable {
  outcome_no: Generated<number>;
  outcome_id: string;
  action_no: number;
  agent_no: number;
  outcome: ActionOutcome;
  output_hash: string | null;
  reported_at: string;
  reported_by: string;
  entry_sequence: number;
  entry_hash: string;
}
